# Written by clients/generate.ts from the description of the API. Do not edit.
"""Types and calls of Sonogate's HTTP API."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Literal, NotRequired, TypedDict, cast
from urllib.parse import quote

API_VERSION = "1.0.0"


class Artifact(TypedDict):
    """A file belonging to the result."""

    name: str
    """Name of the artifact; the same in every request"""
    media_type: str
    """Media type"""
    bytes: int
    """Size"""
    sha256: str
    """SHA-256 of the bytes"""
    section: str | None
    """Section to which the artifact belongs"""


class ArtifactList(TypedDict):
    """The artifacts of a request."""

    data: list[Artifact]
    """All artifacts"""


class Caliper(TypedDict):
    """A caliper or outline that shows what was measured."""

    type: Literal["line", "ellipse", "polyline", "polygon"]
    """`line`: two points; `ellipse`: both ends of the major axis, then both ends of the minor axis; `polyline`: an open trace; `polygon`: a closed outline whose first point is not repeated"""
    points: list[list[float]]
    """Points as [x, y], in pixels of the stored frame, at pixel centres"""


class Concept(TypedDict):
    """A coded concept."""

    key: str
    """Key of the concept in the concept table of Sonogate"""
    system: str
    """URI of the coding system"""
    code: str
    """Code in this system"""
    display: str
    """Display text of the code"""


class File(TypedDict):
    """A file that a client uploads."""

    id: str
    """Id to use in `input.files`"""
    object: Literal["file"]
    """Kind of this object"""
    status: Literal["pending", "ready"]
    """`ready` once the upload is complete"""
    filename: str
    """Name declared for the upload"""
    bytes: int | None
    """Size declared for the upload"""
    media_type: str
    """Media type declared for the upload"""
    sha256: str | None
    """SHA-256 of the bytes; null until ready"""
    expires_at: str
    """When the file will be deleted, 24 hours after the last request that uses it"""


class Finding(TypedDict):
    """A conclusion that the report lists as a finding."""

    id: str
    """Id of the finding in this result"""
    section: str
    """Id of the section that made the finding"""
    concept: Concept | None
    """Coded concept; null if no code applies"""
    statement: NotRequired[Statement]
    """The finding as data; `text` is rendered from it"""
    statements: NotRequired[list[Statement]]
    """Used instead of `statement` if there are several statements"""
    text: str
    """The finding as text"""
    severity: Literal["info", "abnormal", "critical"]
    """Severity; `critical` must be reported at once"""
    confidence: float | None
    """Confidence from 0 to 1; null if not known"""
    evidence: list[str]
    """Ids of the measurements on which the finding is based"""


class InterpretEchoOutputModels(TypedDict):
    id: str
    """Id of the model"""
    version: str
    """Version of the model"""
    sha256: str
    """SHA-256 of the file of the model"""
    licence: str
    """Licence of the weights"""
    pack: Literal["permissive", "research"]
    """`permissive`: anyone may use the model; `research`: trained on data with a non-commercial licence"""
    provider: str
    """Execution provider on which the model ran"""


class InterpretEchoOutputVerificationSignatures(TypedDict):
    observer: str
    """Name of the person who signed"""
    organization: str
    """Organisation of the person"""
    at: str
    """Time of the signature"""
    statement: str | None
    """Declaration of the person"""


class InterpretEchoOutputVerificationReplaces(TypedDict):
    """Signed result of an earlier request of the same study that this result replaces, if there is one."""

    request: str
    """Id of the earlier request"""
    revision: int
    """Signed revision of its result"""


class InterpretEchoOutputVerification(TypedDict):
    """Who signed the result, and when; absent in a draft."""

    kind: Literal["verified"]
    """Kind of verification: signed by a person"""
    revision: int
    """Signed revision of the result, from 1; the draft is 0"""
    signatures: list[InterpretEchoOutputVerificationSignatures]
    """Signatures in order of time"""
    replaces: NotRequired[InterpretEchoOutputVerificationReplaces]
    """Signed result of an earlier request of the same study that this result replaces, if there is one"""


class InterpretEchoOutputInputSummaryRefused(TypedDict):
    file: str
    """Name of the file"""
    reason: str
    """Why the file was refused"""
    read: NotRequired[Literal[True]]
    """Present if the file was read nevertheless, with the changes that the reason states"""


class InterpretEchoOutputInputSummary(TypedDict):
    """Summary of the input that was read."""

    files: int
    """Number of files"""
    series: int
    """Number of series"""
    studies: NotRequired[int]
    """Number of studies; present only if the headers of the files name more than one"""
    clips: int
    """Number of clips; a still image is a clip of one frame"""
    frames: int
    """Number of frames"""
    calibrated_frames: int
    """Number of frames whose scale is known"""
    scale_from_request: NotRequired[Literal[True]]
    """Present only if images without a scale were measured with the scale of the request (`mm_per_px`)"""
    one_scale_for_sizes: NotRequired[list[str]]
    """Sizes of the images; present only if images of different size share one scale of the request"""
    modes: list[str]
    """Imaging modes of the clips"""
    refused: list[InterpretEchoOutputInputSummaryRefused]
    """Files that could not be read"""
    priors: int
    """Number of files of earlier examinations"""


class InterpretEchoOutputSections1Reason(TypedDict):
    code: str
    """Code of the reason"""
    detail: str
    """The reason as text"""
    needs: list[str]
    """Input that would complete the section"""
    gaps: NotRequired[list[Statement]]
    """What is missing, as data; `detail` is rendered from it"""


class InterpretEchoOutputSections1DataClipsDisputed(TypedDict):
    named: str
    """The view in the header"""
    seen: str
    """The view that the model sees"""


class InterpretEchoOutputSections1DataClips(TypedDict):
    file: str
    """File of the request"""
    mode: str
    """Mode of the display"""
    view: Literal["PLAX", "PSAX", "A2C", "A3C", "A4C", "A5C", "subcostal", "suprasternal", "RV inflow", "RV outflow"] | None
    """The view; null where no reliable view was named"""
    level: str | None
    """The view with its level, where the level is known"""
    source: Literal["header", "model", "person"] | None
    """Who named the view"""
    confidence: float | None
    """Confidence of the model; null where the header names the view, or no model was used"""
    disputed: InterpretEchoOutputSections1DataClipsDisputed | None
    """Set if the header and the model contradict each other. Nothing is then measured on the clip until a person names its view"""
    below_gate: str | None
    """The view that the model would have named if it had no gate"""
    measured: bool
    """Whether the chambers of the clip were outlined"""
    frames: int
    """Number of frames"""
    calibrated: bool
    """Whether its scale is known"""
    heart_rate: float | None
    """Heart rate in the header, beats per minute"""


class InterpretEchoOutputSections1DataSpectra(TypedDict):
    file: str
    """File of the request"""
    mode: str
    """Mode of the display"""
    shows: str | None
    """What it shows, where that is known"""


class InterpretEchoOutputSections1Data(TypedDict):
    """What the section `views` found."""

    clips: list[InterpretEchoOutputSections1DataClips]
    """Every clip"""
    spectra: list[InterpretEchoOutputSections1DataSpectra]
    """Doppler and M-mode displays"""


class InterpretEchoOutputSections1(TypedDict):
    id: Literal["views"]
    title: str
    """Title of the section"""
    status: Literal["complete", "partial", "not_assessed", "inadequate", "not_requested", "failed"]
    """`complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error"""
    reason: InterpretEchoOutputSections1Reason | None
    """Why the section is not complete; null if it is complete"""
    statements: NotRequired[list[Statement]]
    """What the section concludes, as data; `summary` is rendered from it"""
    summary: str
    """What the section concludes, as text"""
    data: InterpretEchoOutputSections1Data
    """What the section `views` found"""
    artifacts: list[str]
    """Names of the artifacts that belong to the section"""


class InterpretEchoOutputSections2Reason(TypedDict):
    code: str
    """Code of the reason"""
    detail: str
    """The reason as text"""
    needs: list[str]
    """Input that would complete the section"""
    gaps: NotRequired[list[Statement]]
    """What is missing, as data; `detail` is rendered from it"""


class InterpretEchoOutputSections2(TypedDict):
    id: str
    """Id of the section"""
    title: str
    """Title of the section"""
    status: Literal["complete", "partial", "not_assessed", "inadequate", "not_requested", "failed"]
    """`complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error"""
    reason: InterpretEchoOutputSections2Reason | None
    """Why the section is not complete; null if it is complete"""
    statements: NotRequired[list[Statement]]
    """What the section concludes, as data; `summary` is rendered from it"""
    summary: str
    """What the section concludes, as text"""
    data: dict[str, Any]
    """Further data of the section; the fields differ from section to section"""
    artifacts: list[str]
    """Names of the artifacts that belong to the section"""


class InterpretEchoOutputScoresComponents(TypedDict):
    name: str
    """Name of the component"""
    value: float
    """Score of the component"""


class InterpretEchoOutputScores(TypedDict):
    id: str
    """Id of the score in this result"""
    section: str
    """Id of the section that gave the score"""
    concept: Concept | None
    """Coded concept; null if no code applies"""
    name: str
    """Name of the score"""
    value: float
    """Value of the score"""
    range: list[float]
    """Lowest and highest possible value"""
    components: list[InterpretEchoOutputScoresComponents]
    """Components from which the score was calculated"""


class InterpretEchoOutputClassificationsCriteria(TypedDict):
    name: str
    """Criterion"""
    value: str | None
    """Value that was compared, as text; null if it is not available, or if the outcome says all"""
    outcome: NotRequired[Literal["met", "not_met", "not_available", "at_cut_off"]]
    """`met`; `not_met`; `not_available`: what the criterion needs was not measured or seen; `at_cut_off`: the interval of the value includes the cut-off. Absent in results of earlier versions, whose `value` may be the outcome in words."""
    met: bool
    """True only if the outcome is `met`"""


class InterpretEchoOutputClassifications(TypedDict):
    id: str
    """Id of the classification in this result"""
    section: str
    """Id of the section that gave the classification"""
    concept: Concept | None
    """Coded concept; null if no code applies"""
    name: str
    """Name of the classification"""
    value: str
    """Category that was given"""
    scheme: str
    """Guideline that defines the categories"""
    criteria: list[InterpretEchoOutputClassificationsCriteria]
    """Criteria that led to the category"""


class InterpretEchoOutputGuidance(TypedDict):
    id: str
    """Id of the recommendation in this result"""
    section: str
    """Id of the section that gives the recommendation"""
    statement: NotRequired[Statement]
    """The recommendation as data; `text` is rendered from it"""
    statements: NotRequired[list[Statement]]
    """Used instead of `statement` if there are several statements"""
    text: str
    """The recommendation as text"""
    source: str
    """Guideline that makes the recommendation"""


class InterpretEchoOutputReportImpressionLines(TypedDict):
    topic: str
    """Topic of the line"""
    severity: Literal["info", "abnormal", "critical"]
    """Severity; `critical` must be reported at once"""
    statements: list[Statement]
    """The clauses of the line, as data"""


class InterpretEchoOutputReport(TypedDict):
    language: Literal["en"]
    """Language of the report"""
    title: str
    """Title of the report"""
    findings: list[str]
    """Sentences of the findings, in order"""
    impression: list[str]
    """Impression in at most five lines, the most important first; rendered from `impression_lines`"""
    impression_lines: NotRequired[list[InterpretEchoOutputReportImpressionLines]]
    """The lines of the impression, as data"""
    limitations: list[str]
    """Limitations of the report"""


class InterpretEchoOutput(TypedDict):
    schema: Literal["sonogate.result/1"]
    """Version of this document format"""
    endpoint: str
    """Id of the endpoint"""
    version: str
    """Version of the endpoint"""
    generated_at: str
    """Time at which the result was created"""
    models: list[InterpretEchoOutputModels]
    """Models that were used for this result"""
    draft: bool
    """True until a person has signed the result"""
    verification: NotRequired[InterpretEchoOutputVerification]
    """Who signed the result, and when; absent in a draft"""
    evidence_accepted: Literal["real", "simulated"]
    """`simulated` is a research setting: values also count if their method was shown on simulated images only"""
    input_summary: InterpretEchoOutputInputSummary
    """Summary of the input that was read"""
    sections: list[InterpretEchoOutputSections1 | InterpretEchoOutputSections2]
    """Every section of the endpoint"""
    findings: list[Finding]
    """Findings of all sections"""
    measurements: list[Measurement]
    """Measurements of all sections, including those that must not be used"""
    scores: list[InterpretEchoOutputScores]
    """Scores; empty if no section could give one"""
    classifications: list[InterpretEchoOutputClassifications]
    """Categories and grades by named guidelines"""
    guidance: list[InterpretEchoOutputGuidance]
    """Recommendations of guidelines for the findings; empty if there are none"""
    report: InterpretEchoOutputReport | None
    """The draft report; null unless the request sets `options.report`"""
    artifacts: list[ResultArtifact]
    """Files made from the result"""


class InterpretObstetricOutputModels(TypedDict):
    id: str
    """Id of the model"""
    version: str
    """Version of the model"""
    sha256: str
    """SHA-256 of the file of the model"""
    licence: str
    """Licence of the weights"""
    pack: Literal["permissive", "research"]
    """`permissive`: anyone may use the model; `research`: trained on data with a non-commercial licence"""
    provider: str
    """Execution provider on which the model ran"""


class InterpretObstetricOutputVerificationSignatures(TypedDict):
    observer: str
    """Name of the person who signed"""
    organization: str
    """Organisation of the person"""
    at: str
    """Time of the signature"""
    statement: str | None
    """Declaration of the person"""


class InterpretObstetricOutputVerificationReplaces(TypedDict):
    """Signed result of an earlier request of the same study that this result replaces, if there is one."""

    request: str
    """Id of the earlier request"""
    revision: int
    """Signed revision of its result"""


class InterpretObstetricOutputVerification(TypedDict):
    """Who signed the result, and when; absent in a draft."""

    kind: Literal["verified"]
    """Kind of verification: signed by a person"""
    revision: int
    """Signed revision of the result, from 1; the draft is 0"""
    signatures: list[InterpretObstetricOutputVerificationSignatures]
    """Signatures in order of time"""
    replaces: NotRequired[InterpretObstetricOutputVerificationReplaces]
    """Signed result of an earlier request of the same study that this result replaces, if there is one"""


class InterpretObstetricOutputInputSummaryRefused(TypedDict):
    file: str
    """Name of the file"""
    reason: str
    """Why the file was refused"""
    read: NotRequired[Literal[True]]
    """Present if the file was read nevertheless, with the changes that the reason states"""


class InterpretObstetricOutputInputSummary(TypedDict):
    """Summary of the input that was read."""

    files: int
    """Number of files"""
    series: int
    """Number of series"""
    studies: NotRequired[int]
    """Number of studies; present only if the headers of the files name more than one"""
    clips: int
    """Number of clips; a still image is a clip of one frame"""
    frames: int
    """Number of frames"""
    calibrated_frames: int
    """Number of frames whose scale is known"""
    scale_from_request: NotRequired[Literal[True]]
    """Present only if images without a scale were measured with the scale of the request (`mm_per_px`)"""
    one_scale_for_sizes: NotRequired[list[str]]
    """Sizes of the images; present only if images of different size share one scale of the request"""
    modes: list[str]
    """Imaging modes of the clips"""
    refused: list[InterpretObstetricOutputInputSummaryRefused]
    """Files that could not be read"""
    priors: int
    """Number of files of earlier examinations"""


class InterpretObstetricOutputSections1Reason(TypedDict):
    code: str
    """Code of the reason"""
    detail: str
    """The reason as text"""
    needs: list[str]
    """Input that would complete the section"""
    gaps: NotRequired[list[Statement]]
    """What is missing, as data; `detail` is rendered from it"""


class InterpretObstetricOutputSections1DataKeyFramesLikeliest(TypedDict):
    plane: Literal["transthalamic", "transventricular", "transcerebellar", "abdominal", "femur", "thorax", "cervix", "other", "midsagittal", "transperineal", "early-pregnancy", "amniotic-fluid", "placenta", "four-chamber"]
    """The most likely plane"""
    probability: float | None
    """Probability of this plane; null if not known"""


class InterpretObstetricOutputSections1DataKeyFramesQuality(TypedDict):
    name: str
    """Name of the criterion"""
    met: bool | None
    """Whether the criterion is met; null if this service does not examine it"""


class InterpretObstetricOutputSections1DataKeyFrames(TypedDict):
    file: str
    """Name of the file in the request"""
    frame: int
    """Frame number, from 1"""
    plane: Literal["transthalamic", "transventricular", "transcerebellar", "abdominal", "femur", "thorax", "cervix", "other", "midsagittal", "transperineal", "early-pregnancy", "amniotic-fluid", "placenta", "four-chamber"]
    """Plane of the frame; `other` if no plane reaches the gate"""
    confidence: float
    """Confidence of `plane` alone. For a head plane it may be below the gate (the confidence that a plane must reach to be named), because the gate applies to the sum over the three axial head planes."""
    below_gate: bool
    """True if `plane` is `other` only because the most likely plane did not reach the gate, or because the model of its structure did not find the structure"""
    likeliest: InterpretObstetricOutputSections1DataKeyFramesLikeliest | None
    """The plane that was not named; null unless `below_gate`"""
    probabilities: dict[str, float] | None
    """Probability of every plane, to three decimals; null if the classifier gives only its answer"""
    quality: list[InterpretObstetricOutputSections1DataKeyFramesQuality]
    """Criteria of the image score of this frame"""


class InterpretObstetricOutputSections1DataFramesLikeliest(TypedDict):
    plane: Literal["transthalamic", "transventricular", "transcerebellar", "abdominal", "femur", "thorax", "cervix", "other", "midsagittal", "transperineal", "early-pregnancy", "amniotic-fluid", "placenta", "four-chamber"]
    """The most likely plane"""
    probability: float | None
    """Probability of this plane; null if not known"""


class InterpretObstetricOutputSections1DataFrames(TypedDict):
    file: str
    """Name of the file in the request"""
    frame: int
    """Frame number, from 1"""
    plane: Literal["transthalamic", "transventricular", "transcerebellar", "abdominal", "femur", "thorax", "cervix", "other", "midsagittal", "transperineal", "early-pregnancy", "amniotic-fluid", "placenta", "four-chamber"]
    """Plane of the frame; `other` if no plane reaches the gate"""
    confidence: float
    """Confidence of `plane` alone. For a head plane it may be below the gate (the confidence that a plane must reach to be named), because the gate applies to the sum over the three axial head planes."""
    below_gate: bool
    """True if `plane` is `other` only because the most likely plane did not reach the gate, or because the model of its structure did not find the structure"""
    likeliest: InterpretObstetricOutputSections1DataFramesLikeliest | None
    """The plane that was not named; null unless `below_gate`"""
    probabilities: dict[str, float] | None
    """Probability of every plane, to three decimals; null if the classifier gives only its answer"""


class InterpretObstetricOutputSections1Data(TypedDict):
    """Further data of the section `planes`."""

    counts: dict[str, int]
    """Number of frames of each plane"""
    key_frames: list[InterpretObstetricOutputSections1DataKeyFrames]
    """The best frame of each plane"""
    frames: list[InterpretObstetricOutputSections1DataFrames]
    """All frames that were classified"""


class InterpretObstetricOutputSections1(TypedDict):
    id: Literal["planes"]
    title: str
    """Title of the section"""
    status: Literal["complete", "partial", "not_assessed", "inadequate", "not_requested", "failed"]
    """`complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error"""
    reason: InterpretObstetricOutputSections1Reason | None
    """Why the section is not complete; null if it is complete"""
    statements: NotRequired[list[Statement]]
    """What the section concludes, as data; `summary` is rendered from it"""
    summary: str
    """What the section concludes, as text"""
    data: InterpretObstetricOutputSections1Data
    """Further data of the section `planes`"""
    artifacts: list[str]
    """Names of the artifacts that belong to the section"""


class InterpretObstetricOutputSections2Reason(TypedDict):
    code: str
    """Code of the reason"""
    detail: str
    """The reason as text"""
    needs: list[str]
    """Input that would complete the section"""
    gaps: NotRequired[list[Statement]]
    """What is missing, as data; `detail` is rendered from it"""


class InterpretObstetricOutputSections2DataPlaneAdequacy(TypedDict):
    name: str
    """Name of the criterion"""
    met: bool | None
    """Whether the criterion is met; null if this service does not examine it"""


class InterpretObstetricOutputSections2DataStructuresPlace(TypedDict):
    """Place of the structure on the frame."""

    type: Literal["line", "ellipse", "polygon", "rectangle"]
    """`line`: both ends; `ellipse`: both ends of one axis, then of the other; `polygon`: a closed outline whose first point is not repeated; `rectangle`: top left and bottom right corner"""
    points: list[list[float]]
    """Points as [x, y], in pixels of the stored frame, at pixel centres"""


class InterpretObstetricOutputSections2DataStructures(TypedDict):
    file: str
    """Name of the file in the request"""
    sop_instance_uid: str | None
    """SOP Instance UID of the image; null if the file is not DICOM"""
    frame: int
    """Frame number, from 1"""
    structure: Literal["symphysis", "fetal-head", "fetal-abdomen", "fetal-femur", "thalami", "midbrain", "palate", "intracranial-translucency", "cisterna-magna", "nuchal-translucency", "nasal-bone", "nasal-tip", "nasal-skin"]
    """Key of the structure"""
    confidence: float
    """Confidence of the model, from 0 to 1"""
    accepted: bool
    """False if the confidence is below the gate of the model, or if the shape does not fit the structure"""
    place: InterpretObstetricOutputSections2DataStructuresPlace
    """Place of the structure on the frame"""


class InterpretObstetricOutputSections2Data(TypedDict):
    """Further data of the section `nt`."""

    plane_adequacy: NotRequired[list[InterpretObstetricOutputSections2DataPlaneAdequacy]]
    """Criteria for an adequate plane, and whether each is met"""
    crl_mm: NotRequired[float | None]
    """Crown-rump length in mm"""
    mom: NotRequired[float | None]
    """Multiple of the median for the CRL; null without a CRL in the window"""
    structures: NotRequired[list[InterpretObstetricOutputSections2DataStructures]]
    """Structures that were found, with their places in pixels"""


class InterpretObstetricOutputSections2(TypedDict):
    id: Literal["nt"]
    title: str
    """Title of the section"""
    status: Literal["complete", "partial", "not_assessed", "inadequate", "not_requested", "failed"]
    """`complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error"""
    reason: InterpretObstetricOutputSections2Reason | None
    """Why the section is not complete; null if it is complete"""
    statements: NotRequired[list[Statement]]
    """What the section concludes, as data; `summary` is rendered from it"""
    summary: str
    """What the section concludes, as text"""
    data: InterpretObstetricOutputSections2Data
    """Further data of the section `nt`"""
    artifacts: list[str]
    """Names of the artifacts that belong to the section"""


class InterpretObstetricOutputSections3Reason(TypedDict):
    code: str
    """Code of the reason"""
    detail: str
    """The reason as text"""
    needs: list[str]
    """Input that would complete the section"""
    gaps: NotRequired[list[Statement]]
    """What is missing, as data; `detail` is rendered from it"""


class InterpretObstetricOutputSections3DataStructuresPlace(TypedDict):
    """Place of the structure on the frame."""

    type: Literal["line", "ellipse", "polygon", "rectangle"]
    """`line`: both ends; `ellipse`: both ends of one axis, then of the other; `polygon`: a closed outline whose first point is not repeated; `rectangle`: top left and bottom right corner"""
    points: list[list[float]]
    """Points as [x, y], in pixels of the stored frame, at pixel centres"""


class InterpretObstetricOutputSections3DataStructures(TypedDict):
    file: str
    """Name of the file in the request"""
    sop_instance_uid: str | None
    """SOP Instance UID of the image; null if the file is not DICOM"""
    frame: int
    """Frame number, from 1"""
    structure: Literal["symphysis", "fetal-head", "fetal-abdomen", "fetal-femur", "thalami", "midbrain", "palate", "intracranial-translucency", "cisterna-magna", "nuchal-translucency", "nasal-bone", "nasal-tip", "nasal-skin"]
    """Key of the structure"""
    confidence: float
    """Confidence of the model, from 0 to 1"""
    accepted: bool
    """False if the confidence is below the gate of the model, or if the shape does not fit the structure"""
    place: InterpretObstetricOutputSections3DataStructuresPlace
    """Place of the structure on the frame"""


class InterpretObstetricOutputSections3Data(TypedDict):
    """Further data of the section `biometry`."""

    structures: NotRequired[list[InterpretObstetricOutputSections3DataStructures]]
    """Structures that were found, with their places in pixels"""


class InterpretObstetricOutputSections3(TypedDict):
    id: Literal["biometry"]
    title: str
    """Title of the section"""
    status: Literal["complete", "partial", "not_assessed", "inadequate", "not_requested", "failed"]
    """`complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error"""
    reason: InterpretObstetricOutputSections3Reason | None
    """Why the section is not complete; null if it is complete"""
    statements: NotRequired[list[Statement]]
    """What the section concludes, as data; `summary` is rendered from it"""
    summary: str
    """What the section concludes, as text"""
    data: InterpretObstetricOutputSections3Data
    """Further data of the section `biometry`"""
    artifacts: list[str]
    """Names of the artifacts that belong to the section"""


class InterpretObstetricOutputSections4Reason(TypedDict):
    code: str
    """Code of the reason"""
    detail: str
    """The reason as text"""
    needs: list[str]
    """Input that would complete the section"""
    gaps: NotRequired[list[Statement]]
    """What is missing, as data; `detail` is rendered from it"""


class InterpretObstetricOutputSections4DataStructuresPlace(TypedDict):
    """Place of the structure on the frame."""

    type: Literal["line", "ellipse", "polygon", "rectangle"]
    """`line`: both ends; `ellipse`: both ends of one axis, then of the other; `polygon`: a closed outline whose first point is not repeated; `rectangle`: top left and bottom right corner"""
    points: list[list[float]]
    """Points as [x, y], in pixels of the stored frame, at pixel centres"""


class InterpretObstetricOutputSections4DataStructures(TypedDict):
    file: str
    """Name of the file in the request"""
    sop_instance_uid: str | None
    """SOP Instance UID of the image; null if the file is not DICOM"""
    frame: int
    """Frame number, from 1"""
    structure: Literal["symphysis", "fetal-head", "fetal-abdomen", "fetal-femur", "thalami", "midbrain", "palate", "intracranial-translucency", "cisterna-magna", "nuchal-translucency", "nasal-bone", "nasal-tip", "nasal-skin"]
    """Key of the structure"""
    confidence: float
    """Confidence of the model, from 0 to 1"""
    accepted: bool
    """False if the confidence is below the gate of the model, or if the shape does not fit the structure"""
    place: InterpretObstetricOutputSections4DataStructuresPlace
    """Place of the structure on the frame"""


class InterpretObstetricOutputSections4Data(TypedDict):
    """Further data of the section `labor-progress`."""

    structures: NotRequired[list[InterpretObstetricOutputSections4DataStructures]]
    """Structures that were found, with their places in pixels"""


class InterpretObstetricOutputSections4(TypedDict):
    id: Literal["labor-progress"]
    title: str
    """Title of the section"""
    status: Literal["complete", "partial", "not_assessed", "inadequate", "not_requested", "failed"]
    """`complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error"""
    reason: InterpretObstetricOutputSections4Reason | None
    """Why the section is not complete; null if it is complete"""
    statements: NotRequired[list[Statement]]
    """What the section concludes, as data; `summary` is rendered from it"""
    summary: str
    """What the section concludes, as text"""
    data: InterpretObstetricOutputSections4Data
    """Further data of the section `labor-progress`"""
    artifacts: list[str]
    """Names of the artifacts that belong to the section"""


class InterpretObstetricOutputSections5Reason(TypedDict):
    code: str
    """Code of the reason"""
    detail: str
    """The reason as text"""
    needs: list[str]
    """Input that would complete the section"""
    gaps: NotRequired[list[Statement]]
    """What is missing, as data; `detail` is rendered from it"""


class InterpretObstetricOutputSections5(TypedDict):
    id: str
    """Id of the section"""
    title: str
    """Title of the section"""
    status: Literal["complete", "partial", "not_assessed", "inadequate", "not_requested", "failed"]
    """`complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error"""
    reason: InterpretObstetricOutputSections5Reason | None
    """Why the section is not complete; null if it is complete"""
    statements: NotRequired[list[Statement]]
    """What the section concludes, as data; `summary` is rendered from it"""
    summary: str
    """What the section concludes, as text"""
    data: dict[str, Any]
    """Further data of the section; the fields differ from section to section"""
    artifacts: list[str]
    """Names of the artifacts that belong to the section"""


class InterpretObstetricOutputScoresComponents(TypedDict):
    name: str
    """Name of the component"""
    value: float
    """Score of the component"""


class InterpretObstetricOutputScores(TypedDict):
    id: str
    """Id of the score in this result"""
    section: str
    """Id of the section that gave the score"""
    concept: Concept | None
    """Coded concept; null if no code applies"""
    name: str
    """Name of the score"""
    value: float
    """Value of the score"""
    range: list[float]
    """Lowest and highest possible value"""
    components: list[InterpretObstetricOutputScoresComponents]
    """Components from which the score was calculated"""


class InterpretObstetricOutputClassificationsCriteria(TypedDict):
    name: str
    """Criterion"""
    value: str | None
    """Value that was compared, as text; null if it is not available, or if the outcome says all"""
    outcome: NotRequired[Literal["met", "not_met", "not_available", "at_cut_off"]]
    """`met`; `not_met`; `not_available`: what the criterion needs was not measured or seen; `at_cut_off`: the interval of the value includes the cut-off. Absent in results of earlier versions, whose `value` may be the outcome in words."""
    met: bool
    """True only if the outcome is `met`"""


class InterpretObstetricOutputClassifications(TypedDict):
    id: str
    """Id of the classification in this result"""
    section: str
    """Id of the section that gave the classification"""
    concept: Concept | None
    """Coded concept; null if no code applies"""
    name: str
    """Name of the classification"""
    value: str
    """Category that was given"""
    scheme: str
    """Guideline that defines the categories"""
    criteria: list[InterpretObstetricOutputClassificationsCriteria]
    """Criteria that led to the category"""


class InterpretObstetricOutputGuidance(TypedDict):
    id: str
    """Id of the recommendation in this result"""
    section: str
    """Id of the section that gives the recommendation"""
    statement: NotRequired[Statement]
    """The recommendation as data; `text` is rendered from it"""
    statements: NotRequired[list[Statement]]
    """Used instead of `statement` if there are several statements"""
    text: str
    """The recommendation as text"""
    source: str
    """Guideline that makes the recommendation"""


class InterpretObstetricOutputReportImpressionLines(TypedDict):
    topic: str
    """Topic of the line"""
    severity: Literal["info", "abnormal", "critical"]
    """Severity; `critical` must be reported at once"""
    statements: list[Statement]
    """The clauses of the line, as data"""


class InterpretObstetricOutputReport(TypedDict):
    language: Literal["en"]
    """Language of the report"""
    title: str
    """Title of the report"""
    findings: list[str]
    """Sentences of the findings, in order"""
    impression: list[str]
    """Impression in at most five lines, the most important first; rendered from `impression_lines`"""
    impression_lines: NotRequired[list[InterpretObstetricOutputReportImpressionLines]]
    """The lines of the impression, as data"""
    limitations: list[str]
    """Limitations of the report"""


class InterpretObstetricOutput(TypedDict):
    schema: Literal["sonogate.result/1"]
    """Version of this document format"""
    endpoint: str
    """Id of the endpoint"""
    version: str
    """Version of the endpoint"""
    generated_at: str
    """Time at which the result was created"""
    models: list[InterpretObstetricOutputModels]
    """Models that were used for this result"""
    draft: bool
    """True until a person has signed the result"""
    verification: NotRequired[InterpretObstetricOutputVerification]
    """Who signed the result, and when; absent in a draft"""
    evidence_accepted: Literal["real", "simulated"]
    """`simulated` is a research setting: values also count if their method was shown on simulated images only"""
    input_summary: InterpretObstetricOutputInputSummary
    """Summary of the input that was read"""
    sections: list[InterpretObstetricOutputSections1 | InterpretObstetricOutputSections2 | InterpretObstetricOutputSections3 | InterpretObstetricOutputSections4 | InterpretObstetricOutputSections5]
    """All sections of the endpoint, in the order of the report"""
    findings: list[Finding]
    """Findings of all sections"""
    measurements: list[Measurement]
    """Measurements of all sections, including those that must not be used"""
    scores: list[InterpretObstetricOutputScores]
    """Scores; empty if no section could give one"""
    classifications: list[InterpretObstetricOutputClassifications]
    """Categories and grades by named guidelines"""
    guidance: list[InterpretObstetricOutputGuidance]
    """Recommendations of guidelines for the findings; empty if there are none"""
    report: InterpretObstetricOutputReport | None
    """The draft report; null unless the request sets `options.report`"""
    artifacts: list[ResultArtifact]
    """Files made from the result"""


class Key(TypedDict):
    """A key, without its secret."""

    id: str
    """Id of the key"""
    object: Literal["key"]
    """Kind of this object"""
    name: str
    """Name, chosen by you"""
    test: bool
    """True for a test key, which uses the mock backend"""
    scopes: list[Literal["run", "read", "uploads", "store", "retrieve", "review", "sign", "admin"]]
    """Scopes of the key"""
    created_at: str
    """When it was created"""
    last_used_at: str | None
    """When it was last used"""
    expires_at: str | None
    """When it expires"""
    revoked_at: str | None
    """When it was revoked"""


class KeyList(TypedDict):
    """The keys of the account."""

    data: list[Key]
    """All keys"""


class ListedRequestWebhook(TypedDict):
    url: str
    """URL that is called"""
    events: list[Literal["request.succeeded", "request.failed", "request.triage", "request.verified", "request.withdrawn"]]
    """Events for which it is called"""


class ListedRequestSource(TypedDict):
    """How the request was submitted; contains no patient identity."""

    kind: Literal["api", "queue", "dicom"]
    """Interface that was used"""


class ListedRequestCostLines(TypedDict):
    item: str
    """Item charged"""
    quantity: float
    """Quantity"""
    unit_price: str
    """Price per unit; a decimal number in USD, as a string to keep it exact"""
    amount: str
    """Quantity times unit price; a decimal number in USD, as a string to keep it exact"""


class ListedRequestCost(TypedDict):
    """Cost of the request if it succeeds; 0.00 with a test key, and if the request ends without a result."""

    currency: Literal["USD"]
    """Always USD"""
    total: str
    """Sum of all lines; a decimal number in USD, as a string to keep it exact"""
    lines: list[ListedRequestCostLines]
    """Items that make up the total; empty for test keys"""


class ListedRequestWithdrawalReceiversClosed(TypedDict):
    """Who closed it; only if the state is `closed`."""

    at: str
    """When it was closed"""
    by: str
    """Who closed it"""
    reason: str
    """Why"""


class ListedRequestWithdrawalReceivers(TypedDict):
    destination: str
    """Name of the receiver"""
    state: Literal["pending", "withdrawn", "not_present", "by_hand", "closed"]
    """`pending`, until the receiver has confirmed the withdrawal; `withdrawn`; `not_present`, if it has nothing to withdraw; `by_hand`, if people must withdraw the result there; `closed`, once a person has stated that nothing is left to do there"""
    closed: NotRequired[ListedRequestWithdrawalReceiversClosed]
    """Who closed it; only if the state is `closed`"""


class ListedRequestWithdrawal(TypedDict):
    """Withdrawal of a result, which must no longer be used."""

    at: str
    """When the result was withdrawn"""
    by: str
    """Who withdrew it: the name of a person, or of a key"""
    reason: Literal["wrong-patient", "wrong-study", "wrong-order", "wrong-measurement", "quality"]
    """Why"""
    text: str | None
    """What the person wrote about it"""
    receivers: NotRequired[list[ListedRequestWithdrawalReceivers]]
    """State at each receiver of the result; absent in list items"""


class ListedRequestUrls(TypedDict):
    """URLs of the request."""

    self: str
    """The request"""
    events: str
    """Events of the request"""
    cancel: str
    """POST here to cancel the request"""


class ListedRequest(TypedDict):
    """A request without input and output."""

    id: str
    """Id of the request"""
    object: Literal["request"]
    """Kind of this object"""
    model: str
    """Model"""
    endpoint: str
    """Endpoint of the model"""
    version: str
    """Version of the endpoint that handles the request"""
    status: Literal["queued", "preparing", "running", "succeeded", "failed", "canceled", "rejected", "expired"]
    """`queued`, `preparing` and `running`; then `succeeded`, `failed`, `canceled` or `rejected` (the input cannot be interpreted). `succeeded` becomes `expired` when the result is purged"""
    stage: Stage
    created_at: str
    """When the request was submitted"""
    started_at: str | None
    """When a worker started it"""
    ended_at: str | None
    """When it ended"""
    expires_at: str | None
    """When the result will be purged; null without one. The `input` of a request that ended without a result is removed after the same time (`retention.days`)"""
    key: str | None
    """Key that made the request; null for studies received by DICOM"""
    test: bool
    """True if made with a test key"""
    priority: Literal["low", "normal", "high"]
    """Priority among waiting requests"""
    metadata: Any
    """Your own data, as submitted"""
    webhook: ListedRequestWebhook | None
    """Webhook for events of the request"""
    source: ListedRequestSource
    """How the request was submitted; contains no patient identity"""
    cost: ListedRequestCost
    """Cost of the request if it succeeds; 0.00 with a test key, and if the request ends without a result"""
    error: Problem | None
    """Why there is no result; null otherwise"""
    withdrawal: ListedRequestWithdrawal | None
    """Null unless a person has withdrawn the result"""
    urls: ListedRequestUrls
    """URLs of the request"""


class MeasurementSource(TypedDict):
    """Where the value was measured."""

    provenance: Literal["model", "image-analysis", "cart-sr", "input", "person"]
    """How the value was obtained: `model`: by a neural network; `image-analysis`: by image analysis without a model; `cart-sr`: from the structured report of the ultrasound machine; `input`: from the request; `person`: entered or edited by a person"""
    file: str | None
    """Name of the file in the request"""
    sop_instance_uid: str | None
    """SOP Instance UID of the image; null if the file is not DICOM"""
    frame: int | None
    """Frame number, from 1; null for a value that belongs to no single frame"""
    calipers: list[Caliper]
    """Calipers drawn on the frame"""


class MeasurementReference(TypedDict):
    low: float | None
    """Lower limit of the reference range"""
    high: float | None
    """Upper limit of the reference range"""
    centile: float | None
    """Centile of the value"""
    z_score: float | None
    """z-score of the value"""
    chart: str
    """Chart or guideline from which the range is taken"""


class Measurement(TypedDict):
    """One measured value with its source."""

    id: str
    """Id of the measurement, unique in this result"""
    section: str
    """Id of the section that made the measurement"""
    concept: Concept
    """The quantity that was measured"""
    label: str
    """Name of the quantity for people"""
    value: float
    """Value in `unit`"""
    unit: str
    """Unit as a UCUM code"""
    method: str
    """Key of the measuring method"""
    derivation: Literal["measured", "calculated", "mean", "median"]
    """Whether the value was measured, calculated from other values, or is the mean or median of repeated values"""
    source: MeasurementSource
    """Where the value was measured"""
    site: str | None
    """Finding site in the body"""
    laterality: Literal["left", "right"] | None
    """Side of the body"""
    fetus: str | None
    """Letter or number of the fetus; null for an only fetus or if no fetus is named"""
    phase: str | None
    """Phase of the cardiac cycle or of the Doppler curve"""
    confidence: float | None
    """Confidence of the model or analysis, from 0 to 1; null if it gives no confidence"""
    uncertainty: float | None
    """Half width of the 95 % interval, in `unit`; null if not known"""
    quality: Literal["accepted", "review", "low", "inadequate"]
    """`accepted`: may be used; `review`: must not be used until a person confirms it, because the method was not validated on real images of this kind; `low`: the image or the model is not certain enough; `inadequate`: beyond its limits or contradicted by another value. Values with `low` or `inadequate` must not be used."""
    evidence: NotRequired[str]
    """Key of the evidence for the method in the table of evidence; absent if there is no evidence, or if Sonogate did not measure the value"""
    reference: MeasurementReference | None
    """Reference range; null if no chart applies"""
    interpretation: Literal["N", "L", "H", "A"] | None
    """`N`: normal; `L`: low; `H`: high; `A`: abnormal; null if not judged"""
    confirmed: NotRequired[Literal["accepted", "edited", "entered"]]
    """How a person made the value count in a review: accepted it, edited it, or entered another one; absent otherwise"""
    inputs: list[str]
    """Ids of the measurements from which the value was calculated"""
    origin: Literal["image", "machine", "request", "person"]
    """Where the value comes from: an image of the study, the ultrasound machine, the request, or a person"""
    standing: Literal["counts", "proposed", "repeat", "part-of-mean", "comparison", "withheld"]
    """Which of several values of a quantity to use: `counts`: use this one; `proposed`: would count if a person confirmed it; `repeat`: another value was chosen; `part-of-mean`: input of a mean or median; `comparison`: the machine’s value beside an accepted one of Sonogate; `withheld`: not accepted"""
    remarks: list[Remark]
    """Remarks that must be read with the value, as data"""
    note: str | None
    """The remarks as text; null if there are no remarks"""


class ModelDetailUrls(TypedDict):
    """URLs of the endpoint."""

    run: str
    """POST here to submit"""
    openapi: str
    """OpenAPI description of the endpoint"""


class ModelDetailPricesLines(TypedDict):
    item: str
    """Item charged"""
    unit_price: str
    """Price; a decimal number in USD, as a string to keep it exact"""


class ModelDetailPricesByFrames(TypedDict):
    up_to_frames: int | None
    """Maximum number of frames at this price; null for no limit"""
    price: str
    """Price of the run; a decimal number in USD, as a string to keep it exact"""


class ModelDetailPrices(TypedDict):
    """Price of a run."""

    currency: Literal["USD"]
    """Always USD"""
    lines: list[ModelDetailPricesLines]
    """Prices of the run and of the report"""
    by_frames: list[ModelDetailPricesByFrames] | None
    """Prices by number of frames; null if there is only one price"""


class ModelDetailLimits(TypedDict):
    """Limits of this gateway."""

    body_bytes: int
    """Maximum size of a request body"""
    file_bytes: int
    """Maximum size of a file"""


class ModelDetailSections(TypedDict):
    id: str
    """Id"""
    title: str
    """Title"""


class ModelDetailModels(TypedDict):
    id: str
    """Name"""
    version: str
    """Version"""
    task: str
    """Task of the model"""
    licence: str
    """Licence"""
    pack: Literal["permissive", "research"]
    """`permissive`: usable by anyone; `research`: only for non-commercial research"""
    sha256: str
    """SHA-256 of the weights"""
    accuracy: Any
    """Accuracy measured on held-out data"""


class ModelDetail(TypedDict):
    """An endpoint with all its details."""

    id: str
    """Endpoint"""
    model: str
    """Model; also a short name for the endpoint"""
    version: str
    """Version"""
    title: str
    """Name"""
    urls: ModelDetailUrls
    """URLs of the endpoint"""
    versions: list[str]
    """All versions"""
    prices: ModelDetailPrices
    """Price of a run"""
    limits: ModelDetailLimits
    """Limits of this gateway"""
    sections: list[ModelDetailSections]
    """Sections of every result"""
    models: list[ModelDetailModels]
    """Models that a result may list"""


class ModelListDataUrls(TypedDict):
    """URLs of the endpoint."""

    run: str
    """POST here to submit"""
    openapi: str
    """OpenAPI description of the endpoint"""


class ModelListData(TypedDict):
    """An endpoint."""

    id: str
    """Endpoint"""
    model: str
    """Model; also a short name for the endpoint"""
    version: str
    """Version"""
    title: str
    """Name"""
    urls: ModelListDataUrls
    """URLs of the endpoint"""


class ModelList(TypedDict):
    """The endpoints of this gateway."""

    data: list[ModelListData]
    """All endpoints"""


class NewKey(TypedDict):
    """A newly created key."""

    id: str
    """Id of the key"""
    object: Literal["key"]
    """Kind of this object"""
    name: str
    """Name, chosen by you"""
    test: bool
    """True for a test key, which uses the mock backend"""
    scopes: list[Literal["run", "read", "uploads", "store", "retrieve", "review", "sign", "admin"]]
    """Scopes of the key"""
    created_at: str
    """When it was created"""
    last_used_at: str | None
    """When it was last used"""
    expires_at: str | None
    """When it expires"""
    revoked_at: str | None
    """When it was revoked"""
    key: str | None
    """The secret key; returned only in this response, and null if the response is replayed"""


class ProblemErrors(TypedDict):
    pointer: str
    """Location in the body (JSON Pointer, RFC 6901)"""
    detail: str
    """What is wrong at this location"""


class Problem(TypedDict):
    """Problem details (RFC 9457)."""

    type: str
    """URL of a page that explains the code"""
    title: str
    """Title of the error"""
    status: int
    """HTTP status"""
    detail: str
    """Explanation specific to this occurrence"""
    code: str
    """Stable code of the error, explained at `/errors/{code}`"""
    instance: NotRequired[str]
    """Path of the resource that the error concerns"""
    request_id: NotRequired[str]
    """The `X-Request-Id` of the call"""
    errors: NotRequired[list[ProblemErrors]]
    """Every error in the body"""


class Remark(TypedDict):
    """A remark that must be read with a value, as data."""

    code: str
    """Code of the remark"""
    params: dict[str, Any]
    """Parameters that its text prints"""


class RequestWebhook(TypedDict):
    url: str
    """URL that is called"""
    events: list[Literal["request.succeeded", "request.failed", "request.triage", "request.verified", "request.withdrawn"]]
    """Events for which it is called"""


class RequestSource(TypedDict):
    """How the request was submitted; contains no patient identity."""

    kind: Literal["api", "queue", "dicom"]
    """Interface that was used"""


class RequestCostLines(TypedDict):
    item: str
    """Item charged"""
    quantity: float
    """Quantity"""
    unit_price: str
    """Price per unit; a decimal number in USD, as a string to keep it exact"""
    amount: str
    """Quantity times unit price; a decimal number in USD, as a string to keep it exact"""


class RequestCost(TypedDict):
    """Cost of the request if it succeeds; 0.00 with a test key, and if the request ends without a result."""

    currency: Literal["USD"]
    """Always USD"""
    total: str
    """Sum of all lines; a decimal number in USD, as a string to keep it exact"""
    lines: list[RequestCostLines]
    """Items that make up the total; empty for test keys"""


class RequestWithdrawalReceiversClosed(TypedDict):
    """Who closed it; only if the state is `closed`."""

    at: str
    """When it was closed"""
    by: str
    """Who closed it"""
    reason: str
    """Why"""


class RequestWithdrawalReceivers(TypedDict):
    destination: str
    """Name of the receiver"""
    state: Literal["pending", "withdrawn", "not_present", "by_hand", "closed"]
    """`pending`, until the receiver has confirmed the withdrawal; `withdrawn`; `not_present`, if it has nothing to withdraw; `by_hand`, if people must withdraw the result there; `closed`, once a person has stated that nothing is left to do there"""
    closed: NotRequired[RequestWithdrawalReceiversClosed]
    """Who closed it; only if the state is `closed`"""


class RequestWithdrawal(TypedDict):
    """Withdrawal of a result, which must no longer be used."""

    at: str
    """When the result was withdrawn"""
    by: str
    """Who withdrew it: the name of a person, or of a key"""
    reason: Literal["wrong-patient", "wrong-study", "wrong-order", "wrong-measurement", "quality"]
    """Why"""
    text: str | None
    """What the person wrote about it"""
    receivers: NotRequired[list[RequestWithdrawalReceivers]]
    """State at each receiver of the result; absent in list items"""


class RequestUrls(TypedDict):
    """URLs of the request."""

    self: str
    """The request"""
    events: str
    """Events of the request"""
    cancel: str
    """POST here to cancel the request"""


class Request(TypedDict):
    """One interpretation, from submission to result."""

    id: str
    """Id of the request"""
    object: Literal["request"]
    """Kind of this object"""
    model: str
    """Model"""
    endpoint: str
    """Endpoint of the model"""
    version: str
    """Version of the endpoint that handles the request"""
    status: Literal["queued", "preparing", "running", "succeeded", "failed", "canceled", "rejected", "expired"]
    """`queued`, `preparing` and `running`; then `succeeded`, `failed`, `canceled` or `rejected` (the input cannot be interpreted). `succeeded` becomes `expired` when the result is purged"""
    stage: Stage
    created_at: str
    """When the request was submitted"""
    started_at: str | None
    """When a worker started it"""
    ended_at: str | None
    """When it ended"""
    expires_at: str | None
    """When the result will be purged; null without one. The `input` of a request that ended without a result is removed after the same time (`retention.days`)"""
    key: str | None
    """Key that made the request; null for studies received by DICOM"""
    test: bool
    """True if made with a test key"""
    priority: Literal["low", "normal", "high"]
    """Priority among waiting requests"""
    metadata: Any
    """Your own data, as submitted"""
    webhook: RequestWebhook | None
    """Webhook for events of the request"""
    source: RequestSource
    """How the request was submitted; contains no patient identity"""
    cost: RequestCost
    """Cost of the request if it succeeds; 0.00 with a test key, and if the request ends without a result"""
    error: Problem | None
    """Why there is no result; null otherwise"""
    withdrawal: RequestWithdrawal | None
    """Null unless a person has withdrawn the result"""
    urls: RequestUrls
    """URLs of the request"""
    input: dict[str, Any] | None
    """The input as submitted; null when purged"""
    output: InterpretObstetricOutput | InterpretEchoOutput | None
    """The result envelope of the endpoint; null unless succeeded"""


class RequestPage(TypedDict):
    """One page of a list."""

    data: list[ListedRequest]
    """Newest first"""
    has_more: bool
    """Whether another page follows"""
    next_cursor: str | None
    """`cursor` of the next page"""


class ResultArtifact(TypedDict):
    """A file of the result."""

    name: str
    """File name"""
    media_type: str
    """Media type"""
    bytes: int
    """Size in bytes"""
    sha256: str
    """SHA-256 of the file"""
    section: str | None
    """Id of the section to which the file belongs; null if it belongs to no single section"""


class ReviewChangesChange1(TypedDict):
    kind: Literal["accept"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""


class ReviewChangesChange2(TypedDict):
    kind: Literal["reject"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""
    reason: NotRequired[str]
    """Why, in words"""


class ReviewChangesChange3(TypedDict):
    kind: Literal["set-value"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""
    value: float
    """The value, in the unit of the measurement"""


class ReviewChangesChange4(TypedDict):
    kind: Literal["move-calipers"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""
    points: list[list[float]]
    """Both ends of a line, or both ends of both axes of an ellipse: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result"""


class ReviewChangesChange5(TypedDict):
    kind: Literal["set-outline"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""
    points: list[list[float]]
    """The outline: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result"""


class ReviewChangesChange6(TypedDict):
    kind: Literal["choose-repeat"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""


class ReviewChangesChange7(TypedDict):
    kind: Literal["choose-frame"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""
    frame: int
    """Frame of the clip, from 1"""
    points: NotRequired[list[list[float]]]
    """Both ends of a line, or both ends of both axes of an ellipse: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result"""


class ReviewChangesChange8(TypedDict):
    kind: Literal["name-view"]
    file: str
    """File of the request"""
    view: str
    """Name of the view"""


class ReviewChangesChange9(TypedDict):
    kind: Literal["name-plane"]
    file: str
    """File of the request"""
    frame: int
    """Frame of the clip, from 1"""
    plane: str
    """Name of the plane"""


class ReviewChangesChange10(TypedDict):
    kind: Literal["note"]
    text: str
    """The line"""


class ReviewChangesChange11(TypedDict):
    kind: Literal["undo"]
    change: int
    """Number of the change to take back"""


class ReviewChangesBefore(TypedDict):
    """Affected parts of the review before the change."""

    value: float | None
    """Value of the measurement"""
    unit: str | None
    """Its unit, UCUM"""
    quality: str | None
    """Quality of the measurement: `accepted` counts"""
    text: str | None
    """A view, a plane or a note"""
    frame: int | None
    """Frame of the clip, from 1"""
    points: list[list[float]] | None
    """Calipers or outline: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result"""


class ReviewChangesAfter(TypedDict):
    """Affected parts of the review after the change."""

    value: float | None
    """Value of the measurement"""
    unit: str | None
    """Its unit, UCUM"""
    quality: str | None
    """Quality of the measurement: `accepted` counts"""
    text: str | None
    """A view, a plane or a note"""
    frame: int | None
    """Frame of the clip, from 1"""
    points: list[list[float]] | None
    """Calipers or outline: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result"""


class ReviewChanges(TypedDict):
    id: int
    """Number of the change"""
    at: str
    """When"""
    author: str
    """Author of the change"""
    kind: str
    """Kind of change"""
    change: ReviewChangesChange1 | ReviewChangesChange2 | ReviewChangesChange3 | ReviewChangesChange4 | ReviewChangesChange5 | ReviewChangesChange6 | ReviewChangesChange7 | ReviewChangesChange8 | ReviewChangesChange9 | ReviewChangesChange10 | ReviewChangesChange11
    """The change as submitted"""
    before: ReviewChangesBefore
    """Affected parts of the review before the change"""
    after: ReviewChangesAfter
    """Affected parts of the review after the change"""
    undone: bool
    """True if the change was undone"""


class ReviewSignatures(TypedDict):
    observer: str
    """Name of the person who signed"""
    organization: str
    """Organization of that person"""
    at: str
    """When"""
    statement: str | None
    """Statement made with the signature"""


class ReviewMay(TypedDict):
    """Permissions of the key."""

    edit: bool
    """True if the key may change the review"""
    sign: bool
    """True if the key may sign the result"""


class Review(TypedDict):
    """A review of a result."""

    object: Literal["review"]
    """Kind of this object"""
    request: str
    """Request under review"""
    state: Literal["draft", "in-review", "signed", "amended"]
    """State of the review"""
    revision: int
    """Revision of the review"""
    signed_revision: int
    """Last signed revision; 0 if none"""
    etag: str
    """Value for `If-Match` in the next change"""
    result: dict[str, Any]
    """Result after the changes"""
    original: dict[str, Any]
    """Measurements of the draft, by id"""
    changes: list[ReviewChanges]
    """All changes, oldest first"""
    signatures: list[ReviewSignatures]
    """Signatures, oldest first"""
    signatures_needed: int
    """Number of signatures required"""
    readers: list[str]
    """People who currently have the review open"""
    may: ReviewMay
    """Permissions of the key"""


class Stage(TypedDict):
    """Current stage of a request."""

    name: str
    """`received` and `validating` (in short: `received`), `queued_gpu` (`queued`), `starting` and `preprocessing` (`preprocessing`), `inference.<step>` and `postprocessing` (`inference`), `reporting` and `uploading` (`report`), `completed`; new steps may be added"""
    label: str
    """Human-readable name of the stage"""
    progress: float
    """Fraction of the whole run that is complete"""
    eta_s: float | None
    """Estimated seconds remaining; null if unknown"""


class Statement(TypedDict):
    """One statement of the result, as data."""

    kind: Literal["value", "conclusion", "gap", "advice", "limitation"]
    """Kind of statement"""
    code: str
    """Code of the statement"""
    about: list[str]
    """Ids of the measurements that it is about"""
    fetus: str | None
    """Name of the fetus if there are several; otherwise null"""
    params: dict[str, Any]
    """Parameters that its sentence prints"""


class TriageFlag(TypedDict):
    """A critical flag."""

    code: str
    """Code of the finding"""
    system: str
    """Coding system"""
    display: str
    """Human-readable form of the code"""
    severity: Literal["critical"]
    """Always critical"""
    section: str
    """Section of the result"""
    evidence: list[str]
    """Ids of the measurements or frames that support it"""
    at: str
    """When the flag was raised"""


class Upload(TypedDict):
    """A file, and where to PUT its bytes."""

    file: File
    upload: WholeUpload | UploadInParts | None
    """Where to PUT the bytes; null once the file is ready"""
    complete_url: str
    """POST here once all bytes have been sent"""


class UploadInParts(TypedDict):
    """A URL for each part."""

    part_size: int
    """Size of every part except the last"""
    parts: list[UploadPart]
    """All parts, including those already uploaded"""
    expires_at: str
    """When the URLs expire"""


class UploadPart(TypedDict):
    """One part of a large file."""

    part_number: int
    """Number of the part, from 1"""
    url: str
    """PUT the part here; needs no key"""
    headers: dict[str, str]
    """Headers to send with the bytes"""
    first_byte: int
    """Offset of the part in the file"""
    bytes: int
    """Size of the part"""
    etag: str | None
    """ETag of the uploaded part; null until its bytes have arrived"""


class UsageDataCost(TypedDict):
    """Cost of these requests."""

    currency: Literal["USD"]
    """Always USD"""
    total: str
    """Sum; a decimal number in USD, as a string to keep it exact"""


class UsageData(TypedDict):
    month: str
    """Month (UTC)"""
    key: str | None
    """Id of the key; null for studies received by DICOM"""
    requests: int
    """Requests that ended"""
    succeeded: int
    """Number of these that succeeded"""
    cost: UsageDataCost
    """Cost of these requests"""


class Usage(TypedDict):
    """Number and cost of requests."""

    data: list[UsageData]
    """One entry per month and key"""


class WebhookDeliveries(TypedDict):
    """One page of a list."""

    data: list[WebhookDelivery]
    """Newest first"""
    has_more: bool
    """Whether another page follows"""
    next_cursor: str | None
    """`cursor` of the next page"""


class WebhookDeliveryError(TypedDict):
    code: str
    """Stable code of the error, explained at `/errors/{code}`"""
    detail: str | None
    """Explanation specific to this occurrence"""


class WebhookDeliveryAttempts(TypedDict):
    at: str
    """When"""
    status: int | None
    """HTTP status of your response"""
    duration_ms: float
    """Duration of the attempt in milliseconds"""
    answer_bytes: int
    """Size of your response"""
    error: str | None
    """What went wrong"""


class WebhookDelivery(TypedDict):
    """A webhook delivery with its attempts."""

    id: str
    """The `webhook-id` of every attempt"""
    object: Literal["webhook_delivery"]
    """Kind of this object"""
    request: str
    """Request that the event concerns"""
    event: str
    """Event"""
    url: str
    """Address"""
    state: Literal["pending", "sending", "delivered", "dead", "diverted", "closed"]
    """`dead` once the delivery has been given up, `closed` once the site has decided not to send it any more"""
    disabled_at: str | None
    """When the URL was disabled"""
    created_at: str
    """When the event happened"""
    next_attempt_at: str | None
    """When the next attempt is due"""
    ended_at: str | None
    """When the webhook was delivered or given up"""
    error: WebhookDeliveryError | None
    """Why the last attempt failed"""
    attempts: list[WebhookDeliveryAttempts]
    """All attempts"""


class WebhookMessageWebhook(TypedDict):
    url: str
    """URL that is called"""
    events: list[Literal["request.succeeded", "request.failed", "request.triage", "request.verified", "request.withdrawn"]]
    """Events for which it is called"""


class WebhookMessageSource(TypedDict):
    """How the request was submitted; contains no patient identity."""

    kind: Literal["api", "queue", "dicom"]
    """Interface that was used"""


class WebhookMessageCostLines(TypedDict):
    item: str
    """Item charged"""
    quantity: float
    """Quantity"""
    unit_price: str
    """Price per unit; a decimal number in USD, as a string to keep it exact"""
    amount: str
    """Quantity times unit price; a decimal number in USD, as a string to keep it exact"""


class WebhookMessageCost(TypedDict):
    """Cost of the request if it succeeds; 0.00 with a test key, and if the request ends without a result."""

    currency: Literal["USD"]
    """Always USD"""
    total: str
    """Sum of all lines; a decimal number in USD, as a string to keep it exact"""
    lines: list[WebhookMessageCostLines]
    """Items that make up the total; empty for test keys"""


class WebhookMessageWithdrawalReceiversClosed(TypedDict):
    """Who closed it; only if the state is `closed`."""

    at: str
    """When it was closed"""
    by: str
    """Who closed it"""
    reason: str
    """Why"""


class WebhookMessageWithdrawalReceivers(TypedDict):
    destination: str
    """Name of the receiver"""
    state: Literal["pending", "withdrawn", "not_present", "by_hand", "closed"]
    """`pending`, until the receiver has confirmed the withdrawal; `withdrawn`; `not_present`, if it has nothing to withdraw; `by_hand`, if people must withdraw the result there; `closed`, once a person has stated that nothing is left to do there"""
    closed: NotRequired[WebhookMessageWithdrawalReceiversClosed]
    """Who closed it; only if the state is `closed`"""


class WebhookMessageWithdrawal(TypedDict):
    """Withdrawal of a result, which must no longer be used."""

    at: str
    """When the result was withdrawn"""
    by: str
    """Who withdrew it: the name of a person, or of a key"""
    reason: Literal["wrong-patient", "wrong-study", "wrong-order", "wrong-measurement", "quality"]
    """Why"""
    text: str | None
    """What the person wrote about it"""
    receivers: NotRequired[list[WebhookMessageWithdrawalReceivers]]
    """State at each receiver of the result; absent in list items"""


class WebhookMessageUrls(TypedDict):
    """URLs of the request."""

    self: str
    """The request"""
    events: str
    """Events of the request"""
    cancel: str
    """POST here to cancel the request"""


class WebhookMessage(TypedDict):
    """Body of a webhook."""

    id: str
    """Id of the request"""
    object: Literal["request"]
    """Kind of this object"""
    model: str
    """Model"""
    endpoint: str
    """Endpoint of the model"""
    version: str
    """Version of the endpoint that handles the request"""
    status: Literal["queued", "preparing", "running", "succeeded", "failed", "canceled", "rejected", "expired"]
    """`queued`, `preparing` and `running`; then `succeeded`, `failed`, `canceled` or `rejected` (the input cannot be interpreted). `succeeded` becomes `expired` when the result is purged"""
    stage: Stage
    created_at: str
    """When the request was submitted"""
    started_at: str | None
    """When a worker started it"""
    ended_at: str | None
    """When it ended"""
    expires_at: str | None
    """When the result will be purged; null without one. The `input` of a request that ended without a result is removed after the same time (`retention.days`)"""
    key: str | None
    """Key that made the request; null for studies received by DICOM"""
    test: bool
    """True if made with a test key"""
    priority: Literal["low", "normal", "high"]
    """Priority among waiting requests"""
    metadata: Any
    """Your own data, as submitted"""
    webhook: WebhookMessageWebhook | None
    """Webhook for events of the request"""
    source: WebhookMessageSource
    """How the request was submitted; contains no patient identity"""
    cost: WebhookMessageCost
    """Cost of the request if it succeeds; 0.00 with a test key, and if the request ends without a result"""
    error: Problem | None
    """Why there is no result; null otherwise"""
    withdrawal: WebhookMessageWithdrawal | None
    """Null unless a person has withdrawn the result"""
    urls: WebhookMessageUrls
    """URLs of the request"""
    input: dict[str, Any] | None
    """The input as submitted; null when purged"""
    output: Any
    """The result envelope of the endpoint; null unless succeeded"""
    event: Literal["request.succeeded", "request.failed", "request.triage", "request.verified", "request.withdrawn"]
    """Event that caused the call"""
    triage: list[TriageFlag]
    """Critical flags raised so far, oldest first"""
    output_omitted: NotRequired[Literal[True]]
    """Present if `output` is too long for a webhook; fetch it from `urls.self`"""
    input_omitted: NotRequired[Literal[True]]
    """Present if `input` is too long, too"""


class WebhookSecret(TypedDict):
    """The secret used to sign webhooks."""

    object: Literal["webhook_secret"]
    """Kind of this object"""
    secret: str | None
    """The signing secret; null if the response is replayed"""
    created_at: NotRequired[str]
    """When it was created"""


class WholeUpload(TypedDict):
    """A single URL for the whole file."""

    url: str
    """PUT the bytes here; needs no key"""
    method: Literal["PUT"]
    """HTTP method to use"""
    headers: dict[str, str]
    """Headers to send with the bytes"""
    expires_at: str
    """When the URL expires"""


class InterpretObstetricBodyInputOptionsDating(TypedDict):
    """Dating of the pregnancy; growth is not judged without it."""

    ga_days: int
    """Gestational age on the day of the examination, in days"""
    basis: NotRequired[Literal["lmp", "crl", "prior_scan", "ivf"]]
    """Method by which the pregnancy was dated: last menstrual period, CRL, earlier scan or IVF"""


InterpretObstetricBodyInputOptions = TypedDict(
    "InterpretObstetricBodyInputOptions",
    {
        "dating": "NotRequired[InterpretObstetricBodyInputOptionsDating]",
        "mm_per_px": "NotRequired[float | list[float | None]]",
        "report": "NotRequired[bool]",
        "report_language": "NotRequired[Literal[\"en\"]]",
        "return": "NotRequired[list[Literal[\"json\"]]]",
        "previews": "NotRequired[bool]",
    },
)


class InterpretObstetricBodyInputClinicalContext(TypedDict):
    """Clinical context of the patient, without identity."""

    age_years: NotRequired[int]
    """Age of the patient in years; if it is missing, an echo is read as that of an adult"""
    sex: NotRequired[Literal["female", "male", "other", "unknown"]]
    """Sex of the patient; selects the reference ranges of an echo"""
    indication: NotRequired[str]
    """Reason for the examination, without names, identifiers and dates"""


class InterpretObstetricBodyInput(TypedDict):
    """Input of the endpoint."""

    files: list[str]
    """Files of the examination: ids of uploads, or URLs of hosted files"""
    prior_files: NotRequired[list[str]]
    """Files of earlier examinations of the same patient: ids of uploads, or URLs of hosted files"""
    options: NotRequired[InterpretObstetricBodyInputOptions]
    """Options of the interpretation"""
    clinical_context: NotRequired[InterpretObstetricBodyInputClinicalContext]
    """Clinical context of the patient, without identity"""


class InterpretObstetricBodyWebhook(TypedDict):
    """Webhook for events of the request."""

    url: str
    """https URL to call; its host must be public or permitted by the site"""
    events: NotRequired[list[Literal["request.succeeded", "request.failed", "request.triage", "request.verified", "request.withdrawn"]]]
    """Events to send. `request.triage` (each critical flag, immediately), `request.verified` (signed by a person) and `request.withdrawn` are sent only if listed"""


class InterpretObstetricBody(TypedDict):
    input: InterpretObstetricBodyInput
    """Input of the endpoint"""
    webhook: NotRequired[InterpretObstetricBodyWebhook]
    """Webhook for events of the request"""
    priority: NotRequired[Literal["low", "normal", "high"]]
    """Priority among waiting requests"""
    metadata: NotRequired[Any]
    """Any JSON value of up to 32768 bytes; it is returned with the request and in webhooks. With a test key, its member `mock` selects another outcome"""


InterpretEchoBodyInputOptions = TypedDict(
    "InterpretEchoBodyInputOptions",
    {
        "report": "NotRequired[bool]",
        "report_language": "NotRequired[Literal[\"en\"]]",
        "return": "NotRequired[list[Literal[\"json\"]]]",
    },
)


class InterpretEchoBodyInputClinicalContext(TypedDict):
    """Clinical context of the patient, without identity."""

    age_years: NotRequired[int]
    """Age of the patient in years; if it is missing, an echo is read as that of an adult"""
    sex: NotRequired[Literal["female", "male", "other", "unknown"]]
    """Sex of the patient; selects the reference ranges of an echo"""
    indication: NotRequired[str]
    """Reason for the examination, without names, identifiers and dates"""
    height_cm: NotRequired[float]
    """Height in cm; with the weight, it gives the body surface area"""
    weight_kg: NotRequired[float]
    """Weight in kg"""


class InterpretEchoBodyInput(TypedDict):
    """Input of the endpoint."""

    files: list[str]
    """Files of the examination: ids of uploads, or URLs of hosted files"""
    prior_files: NotRequired[list[str]]
    """Files of earlier examinations of the same patient: ids of uploads, or URLs of hosted files"""
    options: NotRequired[InterpretEchoBodyInputOptions]
    """Options of the interpretation"""
    clinical_context: NotRequired[InterpretEchoBodyInputClinicalContext]
    """Clinical context of the patient, without identity"""


class InterpretEchoBodyWebhook(TypedDict):
    """Webhook for events of the request."""

    url: str
    """https URL to call; its host must be public or permitted by the site"""
    events: NotRequired[list[Literal["request.succeeded", "request.failed", "request.triage", "request.verified", "request.withdrawn"]]]
    """Events to send. `request.triage` (each critical flag, immediately), `request.verified` (signed by a person) and `request.withdrawn` are sent only if listed"""


class InterpretEchoBody(TypedDict):
    input: InterpretEchoBodyInput
    """Input of the endpoint"""
    webhook: NotRequired[InterpretEchoBodyWebhook]
    """Webhook for events of the request"""
    priority: NotRequired[Literal["low", "normal", "high"]]
    """Priority among waiting requests"""
    metadata: NotRequired[Any]
    """Any JSON value of up to 32768 bytes; it is returned with the request and in webhooks. With a test key, its member `mock` selects another outcome"""


class ChangeReviewBodyChanges1(TypedDict):
    kind: Literal["accept"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""


class ChangeReviewBodyChanges2(TypedDict):
    kind: Literal["reject"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""
    reason: NotRequired[str]
    """Why, in words"""


class ChangeReviewBodyChanges3(TypedDict):
    kind: Literal["set-value"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""
    value: float
    """The value, in the unit of the measurement"""


class ChangeReviewBodyChanges4(TypedDict):
    kind: Literal["move-calipers"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""
    points: list[list[float]]
    """Both ends of a line, or both ends of both axes of an ellipse: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result"""


class ChangeReviewBodyChanges5(TypedDict):
    kind: Literal["set-outline"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""
    points: list[list[float]]
    """The outline: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result"""


class ChangeReviewBodyChanges6(TypedDict):
    kind: Literal["choose-repeat"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""


class ChangeReviewBodyChanges7(TypedDict):
    kind: Literal["choose-frame"]
    measurement: str
    """Id of a measurement, as the reviewed result or the original lists it"""
    frame: int
    """Frame of the clip, from 1"""
    points: NotRequired[list[list[float]]]
    """Both ends of a line, or both ends of both axes of an ellipse: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result"""


class ChangeReviewBodyChanges8(TypedDict):
    kind: Literal["name-view"]
    file: str
    """File of the request"""
    view: str
    """Name of the view"""


class ChangeReviewBodyChanges9(TypedDict):
    kind: Literal["name-plane"]
    file: str
    """File of the request"""
    frame: int
    """Frame of the clip, from 1"""
    plane: str
    """Name of the plane"""


class ChangeReviewBodyChanges10(TypedDict):
    kind: Literal["note"]
    text: str
    """The line"""


class ChangeReviewBodyChanges11(TypedDict):
    kind: Literal["undo"]
    change: int
    """Number of the change to take back"""


class ChangeReviewBody(TypedDict):
    changes: list[ChangeReviewBodyChanges1 | ChangeReviewBodyChanges2 | ChangeReviewBodyChanges3 | ChangeReviewBodyChanges4 | ChangeReviewBodyChanges5 | ChangeReviewBodyChanges6 | ChangeReviewBodyChanges7 | ChangeReviewBodyChanges8 | ChangeReviewBodyChanges9 | ChangeReviewBodyChanges10 | ChangeReviewBodyChanges11]
    """Changes, applied in this order; either all or none"""
    amend: NotRequired[bool]
    """True to change a signed result, which must then be signed again as amended"""


class SignResultBody(TypedDict):
    statement: NotRequired[str]
    """Statement that the person makes with the signature"""


class WithdrawResultBody(TypedDict):
    reason: Literal["wrong-patient", "wrong-study", "wrong-order", "wrong-measurement", "quality"]
    """Why the result is withdrawn"""
    text: NotRequired[str]
    """Explanation for the receivers, without names, identifiers and dates"""


class CreateUploadBody(TypedDict):
    filename: str
    """Name of the file, without a folder"""
    bytes: int
    """Size"""
    media_type: str
    """Media type"""


class CompleteUploadBodyParts(TypedDict):
    part_number: int
    """Number of the part"""
    etag: str
    """`ETag` returned by the PUT of the part"""


class CompleteUploadBody(TypedDict):
    sha256: NotRequired[str]
    """SHA-256 of the whole file, to be verified"""
    parts: NotRequired[list[CompleteUploadBodyParts]]
    """The uploaded parts, to be verified"""


class CreateKeyBody(TypedDict):
    name: str
    """Name of the key, chosen by you"""
    test: NotRequired[bool]
    """True for a test key, which uses the mock backend"""
    scopes: NotRequired[list[Literal["run", "read", "uploads", "store", "retrieve", "review", "sign", "admin"]]]
    """Scopes of the key; default: `run`, `read` and `uploads`"""
    expires_at: NotRequired[str]
    """When the key expires; default: never"""


class RotateKeyBody(TypedDict):
    overlap_hours: NotRequired[float]
    """How many hours the old key keeps working"""


class Calls:
    """Every call of the API as a method."""

    def __init__(self, send: Callable[..., Any]) -> None:
        self._send = send

    def interpret_obstetric(self, *, body: InterpretObstetricBody, idempotency_key: str | None = None) -> Request:
        """Submit to Obstetric ultrasound."""
        return cast("Request", self._send("POST", "/v1/run/us/obstetric/interpret", json=body, once=True, idempotency_key=idempotency_key))

    def interpret_echo(self, *, body: InterpretEchoBody, idempotency_key: str | None = None) -> Request:
        """Submit to Echocardiography."""
        return cast("Request", self._send("POST", "/v1/run/us/echo/interpret", json=body, once=True, idempotency_key=idempotency_key))

    def list_requests(self, *, model: str | None = None, status: Literal["queued", "preparing", "running", "succeeded", "failed", "canceled", "rejected", "expired"] | list[Literal["queued", "preparing", "running", "succeeded", "failed", "canceled", "rejected", "expired"]] | None = None, key: str | None = None, since: str | None = None, limit: int | None = None, cursor: str | None = None) -> RequestPage:
        """The account's requests, newest first."""
        return cast("RequestPage", self._send("GET", "/v1/requests", query={"model": model, "status": status, "key": key, "since": since, "limit": limit, "cursor": cursor}))

    def get_request(self, *, id: str, wait: int | None = None) -> Request:
        """Get a request, optionally waiting for its status to change."""
        return cast("Request", self._send("GET", f"/v1/requests/{quote(id, safe='')}", query={"wait": wait}))

    def cancel_request(self, *, id: str, idempotency_key: str | None = None) -> Request:
        """Cancel a request."""
        return cast("Request", self._send("POST", f"/v1/requests/{quote(id, safe='')}/cancel", once=True, idempotency_key=idempotency_key))

    def list_artifacts(self, *, id: str) -> ArtifactList:
        """List the artifacts of a request."""
        return cast("ArtifactList", self._send("GET", f"/v1/requests/{quote(id, safe='')}/artifacts"))

    def get_review(self, *, id: str) -> Review:
        """Get the reviewed result, its changes and who has the review open."""
        return cast("Review", self._send("GET", f"/v1/requests/{quote(id, safe='')}/review"))

    def change_review(self, *, id: str, if_match: str, body: ChangeReviewBody) -> Review:
        """Change a review: accept, reject or edit values, undo changes, add notes."""
        return cast("Review", self._send("PATCH", f"/v1/requests/{quote(id, safe='')}/review", json=body, if_match=if_match))

    def sign_result(self, *, id: str, if_match: str, body: SignResultBody | None = None) -> Review:
        """Sign the reviewed result in the name of the key."""
        return cast("Review", self._send("POST", f"/v1/requests/{quote(id, safe='')}/sign", json=body, if_match=if_match))

    def withdraw_result(self, *, id: str, body: WithdrawResultBody) -> Request:
        """Withdraw the result here and at every receiver; a second call changes nothing."""
        return cast("Request", self._send("POST", f"/v1/requests/{quote(id, safe='')}/withdraw", json=body))

    def list_models(self) -> ModelList:
        """List the endpoints and their versions."""
        return cast("ModelList", self._send("GET", "/v1/models"))

    def get_model(self, *, ns: str, model: str) -> ModelDetail:
        """Get the versions, prices, limits, sections and models of an endpoint."""
        return cast("ModelDetail", self._send("GET", f"/v1/models/{quote(ns, safe='')}/{quote(model, safe='')}"))

    def describe_endpoint(self, *, ns: str, model: str, endpoint: str) -> Any:
        """Get the OpenAPI description of one endpoint."""
        return cast("Any", self._send("GET", f"/v1/models/{quote(ns, safe='')}/{quote(model, safe='')}/{quote(endpoint, safe='')}/openapi.json"))

    def create_upload(self, *, body: CreateUploadBody, idempotency_key: str | None = None) -> Upload:
        """Start an upload."""
        return cast("Upload", self._send("POST", "/v1/uploads", json=body, once=True, idempotency_key=idempotency_key))

    def get_upload(self, *, id: str) -> Upload:
        """Get the state of an upload, with new URLs to resume it."""
        return cast("Upload", self._send("GET", f"/v1/uploads/{quote(id, safe='')}"))

    def delete_upload(self, *, id: str) -> None:
        """Delete a file, or abort its upload."""
        return cast(None, self._send("DELETE", f"/v1/uploads/{quote(id, safe='')}"))

    def complete_upload(self, *, id: str, body: CompleteUploadBody | None = None, idempotency_key: str | None = None) -> File:
        """Complete an upload."""
        return cast("File", self._send("POST", f"/v1/uploads/{quote(id, safe='')}/complete", json=body, once=True, idempotency_key=idempotency_key))

    def get_usage(self, *, month: str | None = None, key: str | None = None) -> Usage:
        """List requests and their cost by month and key."""
        return cast("Usage", self._send("GET", "/v1/usage", query={"month": month, "key": key}))

    def list_keys(self) -> KeyList:
        """List the keys of the account."""
        return cast("KeyList", self._send("GET", "/v1/keys"))

    def create_key(self, *, body: CreateKeyBody, idempotency_key: str | None = None) -> NewKey:
        """Create a key."""
        return cast("NewKey", self._send("POST", "/v1/keys", json=body, once=True, idempotency_key=idempotency_key))

    def rotate_key(self, *, id: str, body: RotateKeyBody | None = None, idempotency_key: str | None = None) -> NewKey:
        """Rotate a key; the old one expires after an overlap."""
        return cast("NewKey", self._send("POST", f"/v1/keys/{quote(id, safe='')}/rotate", json=body, once=True, idempotency_key=idempotency_key))

    def revoke_key(self, *, id: str) -> Key:
        """Revoke a key."""
        return cast("Key", self._send("DELETE", f"/v1/keys/{quote(id, safe='')}"))

    def get_webhook_secret(self) -> WebhookSecret:
        """Get the secret used to sign webhooks."""
        return cast("WebhookSecret", self._send("GET", "/v1/webhooks/secret"))

    def rotate_webhook_secret(self, *, idempotency_key: str | None = None) -> WebhookSecret:
        """Rotate the secret; for 24 hours the old one is also used."""
        return cast("WebhookSecret", self._send("POST", "/v1/webhooks/secret/rotate", once=True, idempotency_key=idempotency_key))

    def list_webhook_deliveries(self, *, request: str | None = None, state: Literal["pending", "sending", "delivered", "dead", "diverted", "closed"] | None = None, limit: int | None = None, cursor: str | None = None) -> WebhookDeliveries:
        """List the webhook deliveries with their attempts."""
        return cast("WebhookDeliveries", self._send("GET", "/v1/webhooks/deliveries", query={"request": request, "state": state, "limit": limit, "cursor": cursor}))

    def redeliver_webhook(self, *, id: str, idempotency_key: str | None = None) -> WebhookDelivery:
        """Send a webhook again with the same id."""
        return cast("WebhookDelivery", self._send("POST", f"/v1/webhooks/deliveries/{quote(id, safe='')}/redeliver", once=True, idempotency_key=idempotency_key))


class AsyncCalls:
    """Every call of the API as a method."""

    def __init__(self, send: Callable[..., Awaitable[Any]]) -> None:
        self._send = send

    async def interpret_obstetric(self, *, body: InterpretObstetricBody, idempotency_key: str | None = None) -> Request:
        """Submit to Obstetric ultrasound."""
        return cast("Request", await self._send("POST", "/v1/run/us/obstetric/interpret", json=body, once=True, idempotency_key=idempotency_key))

    async def interpret_echo(self, *, body: InterpretEchoBody, idempotency_key: str | None = None) -> Request:
        """Submit to Echocardiography."""
        return cast("Request", await self._send("POST", "/v1/run/us/echo/interpret", json=body, once=True, idempotency_key=idempotency_key))

    async def list_requests(self, *, model: str | None = None, status: Literal["queued", "preparing", "running", "succeeded", "failed", "canceled", "rejected", "expired"] | list[Literal["queued", "preparing", "running", "succeeded", "failed", "canceled", "rejected", "expired"]] | None = None, key: str | None = None, since: str | None = None, limit: int | None = None, cursor: str | None = None) -> RequestPage:
        """The account's requests, newest first."""
        return cast("RequestPage", await self._send("GET", "/v1/requests", query={"model": model, "status": status, "key": key, "since": since, "limit": limit, "cursor": cursor}))

    async def get_request(self, *, id: str, wait: int | None = None) -> Request:
        """Get a request, optionally waiting for its status to change."""
        return cast("Request", await self._send("GET", f"/v1/requests/{quote(id, safe='')}", query={"wait": wait}))

    async def cancel_request(self, *, id: str, idempotency_key: str | None = None) -> Request:
        """Cancel a request."""
        return cast("Request", await self._send("POST", f"/v1/requests/{quote(id, safe='')}/cancel", once=True, idempotency_key=idempotency_key))

    async def list_artifacts(self, *, id: str) -> ArtifactList:
        """List the artifacts of a request."""
        return cast("ArtifactList", await self._send("GET", f"/v1/requests/{quote(id, safe='')}/artifacts"))

    async def get_review(self, *, id: str) -> Review:
        """Get the reviewed result, its changes and who has the review open."""
        return cast("Review", await self._send("GET", f"/v1/requests/{quote(id, safe='')}/review"))

    async def change_review(self, *, id: str, if_match: str, body: ChangeReviewBody) -> Review:
        """Change a review: accept, reject or edit values, undo changes, add notes."""
        return cast("Review", await self._send("PATCH", f"/v1/requests/{quote(id, safe='')}/review", json=body, if_match=if_match))

    async def sign_result(self, *, id: str, if_match: str, body: SignResultBody | None = None) -> Review:
        """Sign the reviewed result in the name of the key."""
        return cast("Review", await self._send("POST", f"/v1/requests/{quote(id, safe='')}/sign", json=body, if_match=if_match))

    async def withdraw_result(self, *, id: str, body: WithdrawResultBody) -> Request:
        """Withdraw the result here and at every receiver; a second call changes nothing."""
        return cast("Request", await self._send("POST", f"/v1/requests/{quote(id, safe='')}/withdraw", json=body))

    async def list_models(self) -> ModelList:
        """List the endpoints and their versions."""
        return cast("ModelList", await self._send("GET", "/v1/models"))

    async def get_model(self, *, ns: str, model: str) -> ModelDetail:
        """Get the versions, prices, limits, sections and models of an endpoint."""
        return cast("ModelDetail", await self._send("GET", f"/v1/models/{quote(ns, safe='')}/{quote(model, safe='')}"))

    async def describe_endpoint(self, *, ns: str, model: str, endpoint: str) -> Any:
        """Get the OpenAPI description of one endpoint."""
        return cast("Any", await self._send("GET", f"/v1/models/{quote(ns, safe='')}/{quote(model, safe='')}/{quote(endpoint, safe='')}/openapi.json"))

    async def create_upload(self, *, body: CreateUploadBody, idempotency_key: str | None = None) -> Upload:
        """Start an upload."""
        return cast("Upload", await self._send("POST", "/v1/uploads", json=body, once=True, idempotency_key=idempotency_key))

    async def get_upload(self, *, id: str) -> Upload:
        """Get the state of an upload, with new URLs to resume it."""
        return cast("Upload", await self._send("GET", f"/v1/uploads/{quote(id, safe='')}"))

    async def delete_upload(self, *, id: str) -> None:
        """Delete a file, or abort its upload."""
        return cast(None, await self._send("DELETE", f"/v1/uploads/{quote(id, safe='')}"))

    async def complete_upload(self, *, id: str, body: CompleteUploadBody | None = None, idempotency_key: str | None = None) -> File:
        """Complete an upload."""
        return cast("File", await self._send("POST", f"/v1/uploads/{quote(id, safe='')}/complete", json=body, once=True, idempotency_key=idempotency_key))

    async def get_usage(self, *, month: str | None = None, key: str | None = None) -> Usage:
        """List requests and their cost by month and key."""
        return cast("Usage", await self._send("GET", "/v1/usage", query={"month": month, "key": key}))

    async def list_keys(self) -> KeyList:
        """List the keys of the account."""
        return cast("KeyList", await self._send("GET", "/v1/keys"))

    async def create_key(self, *, body: CreateKeyBody, idempotency_key: str | None = None) -> NewKey:
        """Create a key."""
        return cast("NewKey", await self._send("POST", "/v1/keys", json=body, once=True, idempotency_key=idempotency_key))

    async def rotate_key(self, *, id: str, body: RotateKeyBody | None = None, idempotency_key: str | None = None) -> NewKey:
        """Rotate a key; the old one expires after an overlap."""
        return cast("NewKey", await self._send("POST", f"/v1/keys/{quote(id, safe='')}/rotate", json=body, once=True, idempotency_key=idempotency_key))

    async def revoke_key(self, *, id: str) -> Key:
        """Revoke a key."""
        return cast("Key", await self._send("DELETE", f"/v1/keys/{quote(id, safe='')}"))

    async def get_webhook_secret(self) -> WebhookSecret:
        """Get the secret used to sign webhooks."""
        return cast("WebhookSecret", await self._send("GET", "/v1/webhooks/secret"))

    async def rotate_webhook_secret(self, *, idempotency_key: str | None = None) -> WebhookSecret:
        """Rotate the secret; for 24 hours the old one is also used."""
        return cast("WebhookSecret", await self._send("POST", "/v1/webhooks/secret/rotate", once=True, idempotency_key=idempotency_key))

    async def list_webhook_deliveries(self, *, request: str | None = None, state: Literal["pending", "sending", "delivered", "dead", "diverted", "closed"] | None = None, limit: int | None = None, cursor: str | None = None) -> WebhookDeliveries:
        """List the webhook deliveries with their attempts."""
        return cast("WebhookDeliveries", await self._send("GET", "/v1/webhooks/deliveries", query={"request": request, "state": state, "limit": limit, "cursor": cursor}))

    async def redeliver_webhook(self, *, id: str, idempotency_key: str | None = None) -> WebhookDelivery:
        """Send a webhook again with the same id."""
        return cast("WebhookDelivery", await self._send("POST", f"/v1/webhooks/deliveries/{quote(id, safe='')}/redeliver", once=True, idempotency_key=idempotency_key))
