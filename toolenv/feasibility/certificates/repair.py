"""The manifest that certificates leave: masks that stand, and the tasks dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolenv.feasibility.annotation.evidence import LabelEvidence
from toolenv.feasibility.certificates.records import Certificate, Certificates, TaskRecord
from toolenv.feasibility.manifest import MaskManifest

_STATUS: Mapping[str, str] = {"certified": "certified", "repaired": "certified", "assumed": "assumed"}


def repaired(manifest: MaskManifest, certificates: Certificates) -> MaskManifest:
    """The manifest with repaired masks, without those refuted for good, and with evidence for each.

    Tasks that the certificates are not about stay as they are.
    """
    masks, excluded = dict(manifest.masks), dict(manifest.excluded)
    evidence = {task: dict(known) for task, known in manifest.evidence.items()}
    for task_id, record in certificates.tasks.items():
        if record.mask is None:
            del masks[task_id]
            excluded[task_id] = f"refuted: {record.reason}"
        else:
            masks[task_id] = record.mask
        evidence[task_id] = {**evidence.get(task_id, {}), **_evidence(record)}
    return replace(
        manifest,
        masks=masks,
        excluded=excluded,
        evidence=evidence,
        provenance=f"{manifest.provenance} Checked and repaired by toolenv certify.",
        built={
            **manifest.built,
            "certificates": certificates.hash,
            "rules": certificates.rules,
            "repaired_from": manifest.hash,
        },
    )


def _evidence(record: TaskRecord) -> dict[str, Any]:
    status = "refuted" if record.mask is None else _STATUS.get(record.status, "unknown")
    found: dict[str, Any] = {"status": status}
    standing = standing_of(record)
    if standing is not None and standing.claim is not None:
        found["claim"], found["criterion"] = standing.claim.kind, standing.criterion
    elif status == "unknown":
        found["bound"] = record.certificates[0].bound
    if record.was_refuted:
        found["refuted_mask"] = list(record.certificates[0].mask)
        found["refuted_kind"] = record.certificates[0].kind
    return found


def labels(certificates: Certificates) -> LabelEvidence:
    """What is proven of the labels of the masks that the certificates are about."""
    status = {task: record.certificates[0].answer for task, record in certificates.tasks.items()}
    return LabelEvidence(certificates.masks, status)


def standing_labels(left: MaskManifest, certificates: Certificates) -> LabelEvidence:
    """What is proven of the labels of the masks that stand.

    Args:
        left: what :func:`repaired` made of the certificates.
        certificates: the certificates.
    """
    standing = {task: standing_of(record) for task, record in certificates.tasks.items()}
    return LabelEvidence(left.hash, {task: one.answer for task, one in standing.items() if one is not None})


def standing_of(record: TaskRecord) -> Certificate | None:
    """The certificate of the mask that stands, if one does."""
    return next((one for one in record.certificates if one.mask == record.mask), None)
