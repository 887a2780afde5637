"""What is written into what a person submits, so that a short manifest is a whole one.

A stamp fills in what was left out. Two kinds of thing are written whatever was said: whose
work it is and its priority, which are not the person's to choose. A pod template is filled in
whenever it was written: who sends the same manifest again changes nothing.
"""

from __future__ import annotations

from tallyard.render.admission import (
    cel,
    stamps_of_containers,
    stamps_of_identity,
    stamps_of_pods,
)
from tallyard.render.admission.rule import Stamp

# Come before all stamps: a patch can only add to what is there.
PARENTS = cel.joined((stamps_of_identity.PARENTS, stamps_of_containers.PARENTS))
STAMPS: tuple[Stamp, ...] = (
    *stamps_of_identity.STAMPS,
    *stamps_of_containers.STAMPS,
    *stamps_of_pods.STAMPS,
)
