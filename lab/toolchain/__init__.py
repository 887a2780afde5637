"""The programs that the lab runs: found on the machine, or built once from pinned Go modules.

`ensure.ensure` is the door. Pins are the `go.mod` and `go.sum` files under `go/`; everything
else here decides what is missing, whether it can be built, and keeps what was built.
"""
