"""What people may know of the ledger: their own, by the login that their token proves."""
