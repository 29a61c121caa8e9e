"""dicomweb-client, controlled by a test through one JSON command on standard input."""

import json
import sys
from io import BytesIO

from dicomweb_client.api import DICOMwebClient
from dicomweb_client.session_utils import create_session
from requests import HTTPError

order = json.load(sys.stdin)
session = create_session()
session.headers.update({"Authorization": f"Bearer {order['key']}"})
client = DICOMwebClient(url=order["url"], session=session)


def described(dataset):
    return {
        "sopInstanceUid": str(dataset.SOPInstanceUID),
        "patientName": str(dataset.get("PatientName", "")),
        "transferSyntax": str(dataset.file_meta.TransferSyntaxUID),
        "pixelBytes": len(dataset.get("PixelData", b"")),
    }


def run(call, *args, **kwargs):
    if call in ("retrieve_study", "retrieve_series"):
        return [described(one) for one in getattr(client, call)(*args, **kwargs)]
    if call == "retrieve_instance":
        return described(client.retrieve_instance(*args, **kwargs))
    if call == "retrieve_instance_frames":
        return [len(one) for one in client.retrieve_instance_frames(*args, **kwargs)]
    if call.endswith("_rendered"):
        import PIL.Image

        image = PIL.Image.open(BytesIO(getattr(client, call)(*args, **kwargs)))
        return {"format": image.format, "size": image.size}
    return getattr(client, call)(*args, **kwargs)


answers = []
for name, args, kwargs in order["calls"]:
    for key in ("media_types",):
        if key in kwargs:
            kwargs[key] = tuple(tuple(one) if isinstance(one, list) else one for one in kwargs[key])
    try:
        answers.append(run(name, *args, **kwargs))
    except HTTPError as error:
        answers.append({"status": error.response.status_code})
print(json.dumps(answers))
