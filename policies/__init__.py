"""The review of a plan: rules, what they are asked about, and the Pulumi pack that asks them.

`__main__.py` is the pack; `tally review` asks the same rules without Pulumi.
"""
