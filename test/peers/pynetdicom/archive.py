"""An archive based on pynetdicom. A test controls it through lines of JSON, and can make it violate
the standard.
"""

import json
import sys
import time
from io import BytesIO

from pydicom import dcmread
from pydicom.dataset import Dataset
from pynetdicom import AE, AllStoragePresentationContexts, evt
from pynetdicom.sop_class import (
    ModalityWorklistInformationFind,
    StudyRootQueryRetrieveInformationModelFind,
    StudyRootQueryRetrieveInformationModelGet,
    StudyRootQueryRetrieveInformationModelMove,
)


def wait_until_sent(association):
    """Waits for the queued responses to be sent: pynetdicom reads nothing, not even a C-CANCEL, before that."""
    while not association.dul.to_provider_queue.empty():
        time.sleep(0.001)


class Archive:
    def __init__(self):
        self.objects = []
        self.told = {}
        self.asked = []
        self.canceled = False
        self.server = None

    def matches(self, keys):
        seen = set()
        for one in self.objects:
            if keys.QueryRetrieveLevel != "STUDY" and one.StudyInstanceUID != keys.StudyInstanceUID:
                continue
            unique = {"STUDY": "StudyInstanceUID", "SERIES": "SeriesInstanceUID", "IMAGE": "SOPInstanceUID"}
            uid = one[unique[keys.QueryRetrieveLevel]].value
            if uid in seen:
                continue
            seen.add(uid)
            answer = Dataset()
            for element in keys:
                answer[element.tag] = one.get(element.tag) or element
            answer.QueryRetrieveLevel = keys.QueryRetrieveLevel
            answer.update(self.told.get("say", {}))
            yield answer

    def worklist(self, event):
        """Answers any query with the test's entries. With `endless`, repeats them without end."""
        self.asked.append(str(event.identifier.AccessionNumber))
        while True:
            for entry in self.told.get("entries", []):
                if event.is_cancelled:
                    self.canceled = True
                    yield 0xFE00, None
                    return
                yield 0xFF00, Dataset.from_json(entry)
                wait_until_sent(event.assoc)
            if not self.told.get("endless"):
                return

    def on_find(self, event):
        if event.request.AffectedSOPClassUID == ModalityWorklistInformationFind and "findStatus" not in self.told:
            time.sleep(self.told.get("delay", 0))
            yield from self.worklist(event)
            return
        self.asked.append(event.identifier.get("QueryRetrieveLevel", ""))
        time.sleep(self.told.get("delay", 0))
        if "findStatus" in self.told:
            failure = Dataset()
            failure.Status = self.told["findStatus"]
            failure.ErrorComment = self.told.get("comment", "")
            yield failure, None
            return
        for answer in self.matches(event.identifier):
            yield 0xFF00, answer
        while self.told.get("endless"):
            if event.is_cancelled:
                self.canceled = True
                if not self.told.get("deaf"):
                    yield 0xFE00, None
                    return
            endless = Dataset()
            endless.QueryRetrieveLevel = event.identifier.QueryRetrieveLevel
            endless.StudyInstanceUID = "1.2.3." + str(time.time_ns())
            yield 0xFF00, endless
            wait_until_sent(event.assoc)

    def on_get(self, event):
        keys = event.identifier
        uids = keys.get("SOPInstanceUID")
        wanted = [uids] if isinstance(uids, str) else uids
        given = [
            one
            for one in self.objects
            if one.StudyInstanceUID == keys.StudyInstanceUID and (not wanted or one.SOPInstanceUID in wanted)
        ][: self.told.get("gives")]
        if "getStatus" in self.told:
            yield 0
            yield self.told["getStatus"], None
            return
        yield len(given)
        for one in given:
            time.sleep(self.told.get("delay", 0))
            if event.is_cancelled:
                self.canceled = True
                yield 0xFE00, None
                return
            if self.told.get("aborts"):
                event.assoc.abort()
                return
            yield 0xFF00, one

    def on_move(self, event):
        yield None, None

    def listen(self, port, title):
        ae = AE(ae_title=title)
        ae.add_supported_context(ModalityWorklistInformationFind)
        ae.add_supported_context(StudyRootQueryRetrieveInformationModelFind)
        ae.add_supported_context(StudyRootQueryRetrieveInformationModelGet)
        ae.add_supported_context(StudyRootQueryRetrieveInformationModelMove)
        for context in AllStoragePresentationContexts:
            ae.add_supported_context(context.abstract_syntax, scu_role=True, scp_role=True)
        handlers = [(evt.EVT_C_FIND, self.on_find), (evt.EVT_C_GET, self.on_get), (evt.EVT_C_MOVE, self.on_move)]
        self.server = ae.start_server(("127.0.0.1", port), block=False, evt_handlers=handlers)

    def run(self, order):
        action = order["action"]
        if action == "listen":
            self.listen(order["port"], order["title"])
        if action == "hold":
            self.objects = [dcmread(BytesIO(bytes.fromhex(one))) for one in order["files"]]
        if action == "tell":
            say = Dataset()
            for keyword, value in order.get("say", {}).items():
                setattr(say, keyword, value)
            self.told = {**order["told"], "say": say}
            self.asked, self.canceled = [], False
        return {"asked": self.asked, "canceled": self.canceled}


def main():
    archive = Archive()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        try:
            answer = archive.run(json.loads(line))
        except Exception as error:  # The test decides whether it expected this error.
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)


main()
