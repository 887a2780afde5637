"""What work costs, frozen before it is let in. Pure, but for the loop around it."""
