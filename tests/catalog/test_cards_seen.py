"""A machine with cards is recognised by what discovery and device plugins say of it."""

from __future__ import annotations

import pytest

from tallyard.catalog.cards_seen import card_resources, is_pci_label_of_a_card

NFD = "feature.node.kubernetes.io/pci-"


@pytest.mark.parametrize(
    "key",
    [
        f"{NFD}10de.present",
        f"{NFD}1002.present",
        f"{NFD}0300_10de.present",
        f"{NFD}0302_10de.present",
        f"{NFD}0380_1002.present",
        # A processing accelerator and a 3D controller draw nothing, whoever makes them.
        f"{NFD}1200_cabc.present",
        f"{NFD}0302_abcd.present",
        f"{NFD}0302_10de_10de_1234.present",
    ],
)
def test_a_card_in_a_slot_is_seen(key: str) -> None:
    assert is_pci_label_of_a_card(key)


@pytest.mark.parametrize(
    "key",
    [
        # What a server draws its console with, a network card, a disk.
        f"{NFD}0300_1a03.present",
        f"{NFD}0200_15b3.present",
        f"{NFD}0108_144d.present",
        f"{NFD}15b3.present",
        f"{NFD}10de.sriov.capable",
        f"{NFD}0200_10de.present",
        "corp.example/pci-10de.present",
        "feature.node.kubernetes.io/cpu-cpuid.AVX",
    ],
)
def test_what_is_no_card_is_not_taken_for_one(key: str) -> None:
    assert not is_pci_label_of_a_card(key)


def test_cards_slices_and_instances_are_found_among_all_that_a_host_offers() -> None:
    offered = ["cpu", "corp.example/npu", "nvidia.com/gpu.shared", "nvidia.com/mig-3g.20gb"]
    offered += ["amd.com/gpu", "rdma/hca", "nvidia.com/hostdev", "corp.example/npu.shared"]
    assert list(card_resources(offered, ["corp.example/npu"])) == [
        "corp.example/npu",
        "nvidia.com/gpu.shared",
        "nvidia.com/mig-3g.20gb",
        "amd.com/gpu",
        "corp.example/npu.shared",
    ]
