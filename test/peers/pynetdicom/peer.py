"""A DICOM peer based on pynetdicom, controlled by lines of JSON on standard input. It
answers each with one line.
"""

import json
import sys
import threading
import time

from pydicom.dataset import Dataset
from pydicom.uid import ImplicitVRLittleEndian
from pynetdicom import AE, AllStoragePresentationContexts, build_role, evt
from pynetdicom.sop_class import (
    InstanceAvailabilityNotification,
    ModalityPerformedProcedureStep,
    StorageCommitmentPushModel,
)

COMMITMENT_INSTANCE = "1.2.840.10008.1.20.1.1"


def references(uids, sop_class):
    items = []
    for uid in uids:
        item = Dataset()
        item.ReferencedSOPClassUID = sop_class
        item.ReferencedSOPInstanceUID = uid
        items.append(item)
    return items


def step_created(study, status):
    step = Dataset()
    step.PerformedProcedureStepStatus = status
    scheduled = Dataset()
    scheduled.StudyInstanceUID = study
    step.ScheduledStepAttributesSequence = [scheduled]
    step.PerformedSeriesSequence = []
    return step


def step_ended(status, uids, sop_class):
    step = Dataset()
    step.PerformedProcedureStepStatus = status
    series = Dataset()
    series.SeriesInstanceUID = "1.2.3.4"
    series.ReferencedImageSequence = references(uids, sop_class)
    step.PerformedSeriesSequence = [series] if uids else []
    return step


def availability(study, uids, sop_class):
    note = Dataset()
    note.StudyInstanceUID = study
    series = Dataset()
    series.SeriesInstanceUID = "1.2.3.4"
    series.ReferencedSOPSequence = references(uids, sop_class)
    note.ReferencedSeriesSequence = [series]
    return note


def commitment(transaction, uids, sop_class):
    request = Dataset()
    request.TransactionUID = transaction
    request.ReferencedSOPSequence = references(uids, sop_class)
    return request


def report_of(event):
    information = event.event_information
    failed = information.get("FailedSOPSequence") or []
    return {
        "event": event.event_type,
        "transaction": information.TransactionUID,
        "committed": [i.ReferencedSOPInstanceUID for i in information.get("ReferencedSOPSequence") or []],
        "failed": [[i.ReferencedSOPInstanceUID, i.FailureReason] for i in failed],
    }


class Peer:
    def __init__(self):
        self.reports = []
        self.requests = []
        self.server = None
        self.answers_at_once = False

    def on_report(self, event):
        self.reports.append(report_of(event))
        return 0x0000, None

    def on_request(self, event):
        information = event.action_information
        self.requests.append(
            {
                "transaction": information.TransactionUID,
                "objects": [i.ReferencedSOPInstanceUID for i in information.ReferencedSOPSequence],
                "classes": [i.ReferencedSOPClassUID for i in information.ReferencedSOPSequence],
            }
        )
        if self.answers_at_once:
            threading.Timer(0.2, self.report_over, [event.assoc, information]).start()
        return 0x0000, None

    def report_over(self, association, request):
        """Commits to every object in a request, over the association on which it arrived."""
        report = Dataset()
        report.TransactionUID = request.TransactionUID
        report.ReferencedSOPSequence = request.ReferencedSOPSequence
        association.send_n_event_report(report, 1, StorageCommitmentPushModel, COMMITMENT_INSTANCE)

    def listen(self, port, title):
        ae = AE(ae_title=title)
        ae.add_supported_context(StorageCommitmentPushModel, scu_role=True, scp_role=True)
        for context in AllStoragePresentationContexts:
            ae.add_supported_context(context.abstract_syntax)
        handlers = [
            (evt.EVT_N_EVENT_REPORT, self.on_report),
            (evt.EVT_N_ACTION, self.on_request),
            (evt.EVT_C_STORE, lambda event: 0x0000),
        ]
        self.server = ae.start_server(("127.0.0.1", port), block=False, evt_handlers=handlers)

    def associate(self, port, title, sop_class, **options):
        ae = AE(ae_title=title)
        ae.add_requested_context(sop_class, ImplicitVRLittleEndian)
        association = ae.associate("127.0.0.1", port, ae_title="SONOGATE", **options)
        assert association.is_established, "not established"
        return association

    def wait_for(self, transaction):
        end = time.time() + 20
        while all(report["transaction"] != transaction for report in self.reports):
            if time.time() > end:
                return
            time.sleep(0.05)

    def run(self, order):
        action = order["action"]
        if action == "listen":
            self.answers_at_once = order.get("answersAtOnce", False)
            self.listen(order["port"], order["title"])
            return {}
        if action == "reports":
            return {"reports": self.reports}
        if action == "requests":
            return {"requests": self.requests}
        if action == "answer":
            return self.answer(order)
        port, title = order["port"], order.get("title", "CART")
        if action.startswith("mpps"):
            association = self.associate(port, title, ModalityPerformedProcedureStep)
            if action == "mpps-create":
                status, _ = association.send_n_create(
                    step_created(order["study"], order.get("status", "IN PROGRESS")), ModalityPerformedProcedureStep, order["step"]
                )
            else:
                change = step_ended(order["status"], order["objects"], order["class"])
                status, _ = association.send_n_set(change, ModalityPerformedProcedureStep, order["step"])
            association.release()
            error = {"errorId": status.ErrorID} if "ErrorID" in status else {}
            return {"status": status.Status, **error}
        if action == "ian":
            association = self.associate(port, title, InstanceAvailabilityNotification)
            note = availability(order["study"], order["objects"], order["class"])
            status, _ = association.send_n_create(note, InstanceAvailabilityNotification, order["note"])
            association.release()
            return {"status": status.Status}
        if action == "commit":
            handlers = [(evt.EVT_N_EVENT_REPORT, self.on_report)]
            association = self.associate(port, title, StorageCommitmentPushModel, evt_handlers=handlers)
            request = commitment(order["transaction"], order["objects"], order["class"])
            status, _ = association.send_n_action(
                request, 1, StorageCommitmentPushModel, COMMITMENT_INSTANCE
            )
            if order["stay"]:
                self.wait_for(order["transaction"])
                association.release()
            else:
                association.abort()
            return {"status": status.Status}
        raise ValueError(action)

    def answer(self, order):
        """Reports on a commitment request over a separate association, as its SCP."""
        ae = AE(ae_title=order["title"])
        ae.add_requested_context(StorageCommitmentPushModel, ImplicitVRLittleEndian)
        role = build_role(StorageCommitmentPushModel, scu_role=False, scp_role=True)
        association = ae.associate("127.0.0.1", order["port"], ae_title="SONOGATE", ext_neg=[role])
        assert association.is_established, "not established"
        report = Dataset()
        report.TransactionUID = order["transaction"]
        if order["committed"]:
            report.ReferencedSOPSequence = references(order["committed"], order["class"])
        if order["failed"]:
            report.FailedSOPSequence = references(order["failed"], order["class"])
            for item in report.FailedSOPSequence:
                item.FailureReason = 0x0112
        status, _ = association.send_n_event_report(
            report, 2 if order["failed"] else 1, StorageCommitmentPushModel, COMMITMENT_INSTANCE
        )
        association.release()
        return {"status": status.Status}


peer = Peer()
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    try:
        answer = peer.run(json.loads(line))
    except Exception as error:  # The test decides whether it expected this error.
        answer = {"error": repr(error)}
    print(json.dumps(answer), flush=True)
