"""A task manager: schedules a step with UPS-RS and follows it on the event channel. A test passes
one JSON command on standard input. pydicom writes and reads the data sets; requests and
websockets handle the communication.
"""

import json
import sys

import requests
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence
from pydicom.uid import generate_uid
from websockets.sync.client import connect

WORKLIST = "1.2.840.10008.5.1.4.34.5"

order = json.load(sys.stdin)
base, ae_title = order["url"], "TASKMANAGER"
session = requests.Session()
session.headers.update({"Authorization": f"Bearer {order['key']}"})


def item(**attributes):
    dataset = Dataset()
    for keyword, value in attributes.items():
        setattr(dataset, keyword, value)
    return dataset


def scheduled():
    """Returns the required attributes from PS3.4 table CC.2.5-3, column N-CREATE."""
    reference = item(ReferencedSOPClassUID=order["sopClass"], ReferencedSOPInstanceUID=order["object"])
    return item(
        TransactionUID="",
        ScheduledProcedureStepPriority="HIGH",
        ProcedureStepLabel="Read the anomaly scan",
        WorklistLabel="AI",
        ScheduledProcessingParametersSequence=Sequence(),
        ScheduledStationNameCodeSequence=Sequence(),
        ScheduledProcedureStepStartDateTime="20260521101500",
        ScheduledWorkitemCodeSequence=Sequence(
            [item(CodeValue="US-OBSTETRIC", CodingSchemeDesignator="99USINT", CodeMeaning="AI")]
        ),
        InputReadinessState="READY",
        InputInformationSequence=Sequence(
            [
                item(
                    TypeOfInstances="DICOM",
                    StudyInstanceUID=order["study"],
                    SeriesInstanceUID=order["series"],
                    ReferencedSOPSequence=Sequence([reference]),
                )
            ]
        ),
        PatientName="Example^Eve",
        PatientID="P-1",
        ProcedureStepState="SCHEDULED",
    )


def call(method, path, dataset=None):
    body = None if dataset is None else json.dumps([dataset.to_json_dict()])
    headers = {"Content-Type": "application/dicom+json", "Accept": "application/dicom+json"}
    answer = session.request(method, f"{base}{path}", data=body, headers=headers, timeout=60)
    answer.raise_for_status()
    return answer


def read(dataset):
    """Writes the data set with pydicom, reads it again, and returns the result."""
    again = Dataset.from_json(json.dumps(dataset))
    return Dataset.from_json(again.to_json())


headers = {"Authorization": session.headers["Authorization"]}
channel = f"{base.replace('http', 'ws', 1)}/subscribers/{ae_title}"
if order["subscribe"]:
    subscribed = call("POST", f"/workitems/{WORKLIST}/subscribers/{ae_title}")
    channel = subscribed.headers["Content-Location"]
with connect(channel, additional_headers=headers) as events:
    uid = generate_uid()
    created = call("POST", f"/workitems?{uid}", scheduled())
    print("created", uid, flush=True)
    reports, state = [], None
    while state not in ("COMPLETED", "CANCELED"):
        # Reports contain elements of the command group, which a pydicom data set refuses.
        message = json.loads(events.recv(timeout=90))
        report = read({tag: value for tag, value in message.items() if not tag.startswith("0000")})
        affected, kind = message["00001000"]["Value"][0], message["00001002"]["Value"][0]
        if affected == uid and kind == 1:
            state = report.ProcedureStepState
        said = report.get("ProcedureStepState") or report.get("SCPStatus") or ""
        reports.append([affected == uid, kind, said])

[shown] = call("GET", f"/workitems/{uid}").json()
step = read(shown)
[listed] = call("GET", f"/workitems?ProcedureStepState=COMPLETED&SOPInstanceUID={uid}").json()
print(
    json.dumps(
        {
            "location": created.headers["Location"].endswith(uid),
            "reports": reports,
            "state": step.ProcedureStepState,
            "label": step.ProcedureStepLabel,
            "priority": step.ScheduledProcedureStepPriority,
            "progress": float(
                step.ProcedureStepProgressInformationSequence[0].ProcedureStepProgress
            ),
            "ended": "PerformedProcedureStepEndDateTime"
            in step.UnifiedProcedureStepPerformedProcedureSequence[0],
            "input": step.InputInformationSequence[0].StudyInstanceUID,
            "listed": read(listed).SOPInstanceUID == uid,
            "unknown": [str(element.tag) for element in step.iterall() if element.VR == "UN"],
        }
    )
)
