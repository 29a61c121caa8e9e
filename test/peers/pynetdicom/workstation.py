"""A workstation based on pynetdicom: finds and retrieves studies as requested by one JSON
command on standard input.
"""

import json
import sys

from pydicom.dataset import Dataset
from pynetdicom import AE, evt, build_role
from pynetdicom.sop_class import (
    StudyRootQueryRetrieveInformationModelFind as Find,
    StudyRootQueryRetrieveInformationModelGet as Get,
    UltrasoundImageStorage,
    UltrasoundMultiFrameImageStorage,
)

order = json.load(sys.stdin)
keys = Dataset()
for name, value in order["keys"].items():
    setattr(keys, name, value)

received = []
offered = []


def on_store(event):
    received.append(str(event.dataset.SOPInstanceUID))
    return 0x0000


def on_message(event):
    if type(event.message).__name__ == "C_STORE_RQ":
        offered.append(str(event.message.command_set.AffectedSOPInstanceUID))


ae = AE(ae_title=order["from"])
ae.add_requested_context(Find)
ae.add_requested_context(Get)
ae.add_requested_context(UltrasoundMultiFrameImageStorage)
ae.add_requested_context(UltrasoundImageStorage, "1.2.840.10008.1.2.4.50")
roles = [
    build_role(one, scp_role=True) for one in (UltrasoundMultiFrameImageStorage, UltrasoundImageStorage)
]
association = ae.associate(
    "127.0.0.1",
    order["port"],
    ae_title="SONOGATE",
    ext_neg=roles if order.get("receives", True) else [],
    evt_handlers=[(evt.EVT_C_STORE, on_store), (evt.EVT_DIMSE_RECV, on_message)],
)
answers = []
if association.is_established:
    send = association.send_c_get if order["operation"] == "get" else association.send_c_find
    for status, identifier in send(keys, Get if order["operation"] == "get" else Find):
        answers.append(
            {
                "status": status.Status if status else None,
                "completed": status.get("NumberOfCompletedSuboperations"),
                "study": str(identifier.get("StudyInstanceUID", "")) if identifier else "",
            }
        )
    association.release()
print(json.dumps({"answers": answers, "received": received, "offered": offered}))
