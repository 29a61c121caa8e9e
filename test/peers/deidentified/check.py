"""Checks de-identified objects against the PS3.15 Annex E table in dicom-anonymizer, using pydicom.

Usage: `check.py BEFORE AFTER [BEFORE AFTER ...]`. Prints the faults as JSON.
"""

import json
import sys

from dicomanonymizer.dicom_anonymization_databases import dicomfields_2026c as table
from pydicom import dcmread
from pydicom.uid import UID_dictionary

REMOVED = {tag for tag in table.X_TAGS if len(tag) == 2}
REPLACED = {
    tag
    for tags in (
        *(table.D_TAGS, table.Z_TAGS, table.Z_D_TAGS, table.U_TAGS),
        *(table.X_D_TAGS, table.X_Z_TAGS, table.X_Z_D_TAGS, table.X_Z_U_STAR_TAGS),
    )
    for tag in tags
    if len(tag) == 2
}
# Options: modified dates, clean descriptors, clean structured content.
CLEANED = {"DA", "TM", "DT", "SQ"}
DESCRIPTORS = {"StudyDescription", "SeriesDescription", "ProtocolName", "PerformedProcedureStepDescription"}


def judge(before, after):
    wrong = []
    old = dcmread(before)
    new = dcmread(after)
    values = {}
    for element in old.iterall():
        values.setdefault(element.tag, set()).add(str(element.value))
    for element in list(new.file_meta) + list(new.iterall()):
        name = f"{element.tag} {element.keyword}"
        tag = (element.tag.group, element.tag.element)
        if element.tag.is_private:
            wrong.append(f"{name}: private")
        if element.VR not in CLEANED and element.keyword not in DESCRIPTORS:
            if tag in REMOVED:
                wrong.append(f"{name}: not removed")
            same = str(element.value) in values.get(element.tag, set())
            if tag in REPLACED and same and str(element.value) not in ("", "None", "[]"):
                wrong.append(f"{name}: not replaced")
        if element.VR == "UI" and element.value:
            uid = str(element.value)
            if uid in {v for each in values.values() for v in each} and uid not in UID_dictionary:
                wrong.append(f"{name}: a UID of the original")
    if new.get("PatientIdentityRemoved") != "YES" or not new.get("DeidentificationMethodCodeSequence"):
        wrong.append("is not marked as de-identified")
    if "PixelData" in new and new.pixel_array.size == 0:
        wrong.append("has no pixels")
    return wrong


paths = sys.argv[1:]
print(json.dumps([judge(*pair) for pair in zip(paths[::2], paths[1::2])]))
