"""The books of core-hours: what is granted, frozen, charged and given back, at three levels.

Data flows one way: a *command* says what is wanted, `decide` answers with *entries* or a
*refusal*, and `Books.apply` moves the balances by entries alone. All of that is pure; reading,
writing and fsync are the business of `store/`.
"""
