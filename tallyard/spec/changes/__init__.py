"""What differs between two platforms, in the words of the spec. Pure; nothing is formatted here."""
