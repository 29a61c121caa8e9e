// Written by clients/generate.ts from the description of the API. Do not edit.

/** Version of the API for which the client was generated. */
export const API_VERSION = '1.0.0';

/** A file belonging to the result */
export type Artifact = {
  /** Name of the artifact; the same in every request */
  name: string;
  /** Media type */
  media_type: string;
  /** Size */
  bytes: number;
  /** SHA-256 of the bytes */
  sha256: string;
  /** Section to which the artifact belongs */
  section: string | null;
};

/** The artifacts of a request */
export type ArtifactList = {
  /** All artifacts */
  data: Array<Artifact>;
};

/** A caliper or outline that shows what was measured */
export type Caliper = {
  /** `line`: two points; `ellipse`: both ends of the major axis, then both ends of the minor axis; `polyline`: an open trace; `polygon`: a closed outline whose first point is not repeated */
  type: "line" | "ellipse" | "polyline" | "polygon";
  /** Points as [x, y], in pixels of the stored frame, at pixel centres */
  points: Array<[number, number]>;
};

/** A coded concept */
export type Concept = {
  /** Key of the concept in the concept table of Sonogate */
  key: string;
  /** URI of the coding system */
  system: string;
  /** Code in this system */
  code: string;
  /** Display text of the code */
  display: string;
};

/** A file that a client uploads */
export type File = {
  /** Id to use in `input.files` */
  id: string;
  /** Kind of this object */
  object: "file";
  /** `ready` once the upload is complete */
  status: "pending" | "ready";
  /** Name declared for the upload */
  filename: string;
  /** Size declared for the upload */
  bytes: number | null;
  /** Media type declared for the upload */
  media_type: string;
  /** SHA-256 of the bytes; null until ready */
  sha256: string | null;
  /** When the file will be deleted, 24 hours after the last request that uses it */
  expires_at: string;
};

/** A conclusion that the report lists as a finding */
export type Finding = {
  /** Id of the finding in this result */
  id: string;
  /** Id of the section that made the finding */
  section: string;
  /** Coded concept; null if no code applies */
  concept: Concept | null;
  /** The finding as data; `text` is rendered from it */
  statement?: Statement;
  /** Used instead of `statement` if there are several statements */
  statements?: Array<Statement>;
  /** The finding as text */
  text: string;
  /** Severity; `critical` must be reported at once */
  severity: "info" | "abnormal" | "critical";
  /** Confidence from 0 to 1; null if not known */
  confidence: number | null;
  /** Ids of the measurements on which the finding is based */
  evidence: Array<string>;
};

export type InterpretEchoOutput = {
  /** Version of this document format */
  schema: "sonogate.result/1";
  /** Id of the endpoint */
  endpoint: string;
  /** Version of the endpoint */
  version: string;
  /** Time at which the result was created */
  generated_at: string;
  /** Models that were used for this result */
  models: Array<{
    /** Id of the model */
    id: string;
    /** Version of the model */
    version: string;
    /** SHA-256 of the file of the model */
    sha256: string;
    /** Licence of the weights */
    licence: string;
    /** `permissive`: anyone may use the model; `research`: trained on data with a non-commercial licence */
    pack: "permissive" | "research";
    /** Execution provider on which the model ran */
    provider: string;
  }>;
  /** True until a person has signed the result */
  draft: boolean;
  /** Who signed the result, and when; absent in a draft */
  verification?: {
    /** Kind of verification: signed by a person */
    kind: "verified";
    /** Signed revision of the result, from 1; the draft is 0 */
    revision: number;
    /** Signatures in order of time */
    signatures: Array<{
      /** Name of the person who signed */
      observer: string;
      /** Organisation of the person */
      organization: string;
      /** Time of the signature */
      at: string;
      /** Declaration of the person */
      statement: string | null;
    }>;
    /** Signed result of an earlier request of the same study that this result replaces, if there is one */
    replaces?: {
      /** Id of the earlier request */
      request: string;
      /** Signed revision of its result */
      revision: number;
    };
  };
  /** `simulated` is a research setting: values also count if their method was shown on simulated images only */
  evidence_accepted: "real" | "simulated";
  /** Summary of the input that was read */
  input_summary: {
    /** Number of files */
    files: number;
    /** Number of series */
    series: number;
    /** Number of studies; present only if the headers of the files name more than one */
    studies?: number;
    /** Number of clips; a still image is a clip of one frame */
    clips: number;
    /** Number of frames */
    frames: number;
    /** Number of frames whose scale is known */
    calibrated_frames: number;
    /** Present only if images without a scale were measured with the scale of the request (`mm_per_px`) */
    scale_from_request?: true;
    /** Sizes of the images; present only if images of different size share one scale of the request */
    one_scale_for_sizes?: Array<string>;
    /** Imaging modes of the clips */
    modes: Array<string>;
    /** Files that could not be read */
    refused: Array<{
      /** Name of the file */
      file: string;
      /** Why the file was refused */
      reason: string;
      /** Present if the file was read nevertheless, with the changes that the reason states */
      read?: true;
    }>;
    /** Number of files of earlier examinations */
    priors: number;
  };
  /** Every section of the endpoint */
  sections: Array<{
    id: "views";
    /** Title of the section */
    title: string;
    /** `complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error */
    status: "complete" | "partial" | "not_assessed" | "inadequate" | "not_requested" | "failed";
    /** Why the section is not complete; null if it is complete */
    reason: {
      /** Code of the reason */
      code: string;
      /** The reason as text */
      detail: string;
      /** Input that would complete the section */
      needs: Array<string>;
      /** What is missing, as data; `detail` is rendered from it */
      gaps?: Array<Statement>;
    } | null;
    /** What the section concludes, as data; `summary` is rendered from it */
    statements?: Array<Statement>;
    /** What the section concludes, as text */
    summary: string;
    /** What the section `views` found */
    data: {
      /** Every clip */
      clips: Array<{
        /** File of the request */
        file: string;
        /** Mode of the display */
        mode: string;
        /** The view; null where no reliable view was named */
        view: "PLAX" | "PSAX" | "A2C" | "A3C" | "A4C" | "A5C" | "subcostal" | "suprasternal" | "RV inflow" | "RV outflow" | null;
        /** The view with its level, where the level is known */
        level: string | null;
        /** Who named the view */
        source: "header" | "model" | "person" | null;
        /** Confidence of the model; null where the header names the view, or no model was used */
        confidence: number | null;
        /** Set if the header and the model contradict each other. Nothing is then measured on the clip until a person names its view */
        disputed: {
          /** The view in the header */
          named: string;
          /** The view that the model sees */
          seen: string;
        } | null;
        /** The view that the model would have named if it had no gate */
        below_gate: string | null;
        /** Whether the chambers of the clip were outlined */
        measured: boolean;
        /** Number of frames */
        frames: number;
        /** Whether its scale is known */
        calibrated: boolean;
        /** Heart rate in the header, beats per minute */
        heart_rate: number | null;
      }>;
      /** Doppler and M-mode displays */
      spectra: Array<{
        /** File of the request */
        file: string;
        /** Mode of the display */
        mode: string;
        /** What it shows, where that is known */
        shows: string | null;
        [name: string]: unknown;
      }>;
      [name: string]: unknown;
    };
    /** Names of the artifacts that belong to the section */
    artifacts: Array<string>;
  } | {
    /** Id of the section */
    id: string;
    /** Title of the section */
    title: string;
    /** `complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error */
    status: "complete" | "partial" | "not_assessed" | "inadequate" | "not_requested" | "failed";
    /** Why the section is not complete; null if it is complete */
    reason: {
      /** Code of the reason */
      code: string;
      /** The reason as text */
      detail: string;
      /** Input that would complete the section */
      needs: Array<string>;
      /** What is missing, as data; `detail` is rendered from it */
      gaps?: Array<Statement>;
    } | null;
    /** What the section concludes, as data; `summary` is rendered from it */
    statements?: Array<Statement>;
    /** What the section concludes, as text */
    summary: string;
    /** Further data of the section; the fields differ from section to section */
    data: Record<string, unknown>;
    /** Names of the artifacts that belong to the section */
    artifacts: Array<string>;
  }>;
  /** Findings of all sections */
  findings: Array<Finding>;
  /** Measurements of all sections, including those that must not be used */
  measurements: Array<Measurement>;
  /** Scores; empty if no section could give one */
  scores: Array<{
    /** Id of the score in this result */
    id: string;
    /** Id of the section that gave the score */
    section: string;
    /** Coded concept; null if no code applies */
    concept: Concept | null;
    /** Name of the score */
    name: string;
    /** Value of the score */
    value: number;
    /** Lowest and highest possible value */
    range: [number, number];
    /** Components from which the score was calculated */
    components: Array<{
      /** Name of the component */
      name: string;
      /** Score of the component */
      value: number;
    }>;
  }>;
  /** Categories and grades by named guidelines */
  classifications: Array<{
    /** Id of the classification in this result */
    id: string;
    /** Id of the section that gave the classification */
    section: string;
    /** Coded concept; null if no code applies */
    concept: Concept | null;
    /** Name of the classification */
    name: string;
    /** Category that was given */
    value: string;
    /** Guideline that defines the categories */
    scheme: string;
    /** Criteria that led to the category */
    criteria: Array<{
      /** Criterion */
      name: string;
      /** Value that was compared, as text; null if it is not available, or if the outcome says all */
      value: string | null;
      /** `met`; `not_met`; `not_available`: what the criterion needs was not measured or seen; `at_cut_off`: the interval of the value includes the cut-off. Absent in results of earlier versions, whose `value` may be the outcome in words. */
      outcome?: "met" | "not_met" | "not_available" | "at_cut_off";
      /** True only if the outcome is `met` */
      met: boolean;
    }>;
  }>;
  /** Recommendations of guidelines for the findings; empty if there are none */
  guidance: Array<{
    /** Id of the recommendation in this result */
    id: string;
    /** Id of the section that gives the recommendation */
    section: string;
    /** The recommendation as data; `text` is rendered from it */
    statement?: Statement;
    /** Used instead of `statement` if there are several statements */
    statements?: Array<Statement>;
    /** The recommendation as text */
    text: string;
    /** Guideline that makes the recommendation */
    source: string;
  }>;
  /** The draft report; null unless the request sets `options.report` */
  report: {
    /** Language of the report */
    language: "en";
    /** Title of the report */
    title: string;
    /** Sentences of the findings, in order */
    findings: Array<string>;
    /** Impression in at most five lines, the most important first; rendered from `impression_lines` */
    impression: Array<string>;
    /** The lines of the impression, as data */
    impression_lines?: Array<{
      /** Topic of the line */
      topic: string;
      /** Severity; `critical` must be reported at once */
      severity: "info" | "abnormal" | "critical";
      /** The clauses of the line, as data */
      statements: Array<Statement>;
    }>;
    /** Limitations of the report */
    limitations: Array<string>;
  } | null;
  /** Files made from the result */
  artifacts: Array<ResultArtifact>;
};

export type InterpretObstetricOutput = {
  /** Version of this document format */
  schema: "sonogate.result/1";
  /** Id of the endpoint */
  endpoint: string;
  /** Version of the endpoint */
  version: string;
  /** Time at which the result was created */
  generated_at: string;
  /** Models that were used for this result */
  models: Array<{
    /** Id of the model */
    id: string;
    /** Version of the model */
    version: string;
    /** SHA-256 of the file of the model */
    sha256: string;
    /** Licence of the weights */
    licence: string;
    /** `permissive`: anyone may use the model; `research`: trained on data with a non-commercial licence */
    pack: "permissive" | "research";
    /** Execution provider on which the model ran */
    provider: string;
  }>;
  /** True until a person has signed the result */
  draft: boolean;
  /** Who signed the result, and when; absent in a draft */
  verification?: {
    /** Kind of verification: signed by a person */
    kind: "verified";
    /** Signed revision of the result, from 1; the draft is 0 */
    revision: number;
    /** Signatures in order of time */
    signatures: Array<{
      /** Name of the person who signed */
      observer: string;
      /** Organisation of the person */
      organization: string;
      /** Time of the signature */
      at: string;
      /** Declaration of the person */
      statement: string | null;
    }>;
    /** Signed result of an earlier request of the same study that this result replaces, if there is one */
    replaces?: {
      /** Id of the earlier request */
      request: string;
      /** Signed revision of its result */
      revision: number;
    };
  };
  /** `simulated` is a research setting: values also count if their method was shown on simulated images only */
  evidence_accepted: "real" | "simulated";
  /** Summary of the input that was read */
  input_summary: {
    /** Number of files */
    files: number;
    /** Number of series */
    series: number;
    /** Number of studies; present only if the headers of the files name more than one */
    studies?: number;
    /** Number of clips; a still image is a clip of one frame */
    clips: number;
    /** Number of frames */
    frames: number;
    /** Number of frames whose scale is known */
    calibrated_frames: number;
    /** Present only if images without a scale were measured with the scale of the request (`mm_per_px`) */
    scale_from_request?: true;
    /** Sizes of the images; present only if images of different size share one scale of the request */
    one_scale_for_sizes?: Array<string>;
    /** Imaging modes of the clips */
    modes: Array<string>;
    /** Files that could not be read */
    refused: Array<{
      /** Name of the file */
      file: string;
      /** Why the file was refused */
      reason: string;
      /** Present if the file was read nevertheless, with the changes that the reason states */
      read?: true;
    }>;
    /** Number of files of earlier examinations */
    priors: number;
  };
  /** All sections of the endpoint, in the order of the report */
  sections: Array<{
    id: "planes";
    /** Title of the section */
    title: string;
    /** `complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error */
    status: "complete" | "partial" | "not_assessed" | "inadequate" | "not_requested" | "failed";
    /** Why the section is not complete; null if it is complete */
    reason: {
      /** Code of the reason */
      code: string;
      /** The reason as text */
      detail: string;
      /** Input that would complete the section */
      needs: Array<string>;
      /** What is missing, as data; `detail` is rendered from it */
      gaps?: Array<Statement>;
    } | null;
    /** What the section concludes, as data; `summary` is rendered from it */
    statements?: Array<Statement>;
    /** What the section concludes, as text */
    summary: string;
    /** Further data of the section `planes` */
    data: {
      /** Number of frames of each plane */
      counts: Record<string, number>;
      /** The best frame of each plane */
      key_frames: Array<{
        /** Name of the file in the request */
        file: string;
        /** Frame number, from 1 */
        frame: number;
        /** Plane of the frame; `other` if no plane reaches the gate */
        plane: "transthalamic" | "transventricular" | "transcerebellar" | "abdominal" | "femur" | "thorax" | "cervix" | "other" | "midsagittal" | "transperineal" | "early-pregnancy" | "amniotic-fluid" | "placenta" | "four-chamber";
        /** Confidence of `plane` alone. For a head plane it may be below the gate (the confidence that a plane must reach to be named), because the gate applies to the sum over the three axial head planes. */
        confidence: number;
        /** True if `plane` is `other` only because the most likely plane did not reach the gate, or because the model of its structure did not find the structure */
        below_gate: boolean;
        /** The plane that was not named; null unless `below_gate` */
        likeliest: {
          /** The most likely plane */
          plane: "transthalamic" | "transventricular" | "transcerebellar" | "abdominal" | "femur" | "thorax" | "cervix" | "other" | "midsagittal" | "transperineal" | "early-pregnancy" | "amniotic-fluid" | "placenta" | "four-chamber";
          /** Probability of this plane; null if not known */
          probability: number | null;
        } | null;
        /** Probability of every plane, to three decimals; null if the classifier gives only its answer */
        probabilities: Record<string, number> | null;
        /** Criteria of the image score of this frame */
        quality: Array<{
          /** Name of the criterion */
          name: string;
          /** Whether the criterion is met; null if this service does not examine it */
          met: boolean | null;
        }>;
      }>;
      /** All frames that were classified */
      frames: Array<{
        /** Name of the file in the request */
        file: string;
        /** Frame number, from 1 */
        frame: number;
        /** Plane of the frame; `other` if no plane reaches the gate */
        plane: "transthalamic" | "transventricular" | "transcerebellar" | "abdominal" | "femur" | "thorax" | "cervix" | "other" | "midsagittal" | "transperineal" | "early-pregnancy" | "amniotic-fluid" | "placenta" | "four-chamber";
        /** Confidence of `plane` alone. For a head plane it may be below the gate (the confidence that a plane must reach to be named), because the gate applies to the sum over the three axial head planes. */
        confidence: number;
        /** True if `plane` is `other` only because the most likely plane did not reach the gate, or because the model of its structure did not find the structure */
        below_gate: boolean;
        /** The plane that was not named; null unless `below_gate` */
        likeliest: {
          /** The most likely plane */
          plane: "transthalamic" | "transventricular" | "transcerebellar" | "abdominal" | "femur" | "thorax" | "cervix" | "other" | "midsagittal" | "transperineal" | "early-pregnancy" | "amniotic-fluid" | "placenta" | "four-chamber";
          /** Probability of this plane; null if not known */
          probability: number | null;
        } | null;
        /** Probability of every plane, to three decimals; null if the classifier gives only its answer */
        probabilities: Record<string, number> | null;
      }>;
    };
    /** Names of the artifacts that belong to the section */
    artifacts: Array<string>;
  } | {
    id: "nt";
    /** Title of the section */
    title: string;
    /** `complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error */
    status: "complete" | "partial" | "not_assessed" | "inadequate" | "not_requested" | "failed";
    /** Why the section is not complete; null if it is complete */
    reason: {
      /** Code of the reason */
      code: string;
      /** The reason as text */
      detail: string;
      /** Input that would complete the section */
      needs: Array<string>;
      /** What is missing, as data; `detail` is rendered from it */
      gaps?: Array<Statement>;
    } | null;
    /** What the section concludes, as data; `summary` is rendered from it */
    statements?: Array<Statement>;
    /** What the section concludes, as text */
    summary: string;
    /** Further data of the section `nt` */
    data: {
      /** Criteria for an adequate plane, and whether each is met */
      plane_adequacy?: Array<{
        /** Name of the criterion */
        name: string;
        /** Whether the criterion is met; null if this service does not examine it */
        met: boolean | null;
      }>;
      /** Crown-rump length in mm */
      crl_mm?: number | null;
      /** Multiple of the median for the CRL; null without a CRL in the window */
      mom?: number | null;
      /** Structures that were found, with their places in pixels */
      structures?: Array<{
        /** Name of the file in the request */
        file: string;
        /** SOP Instance UID of the image; null if the file is not DICOM */
        sop_instance_uid: string | null;
        /** Frame number, from 1 */
        frame: number;
        /** Key of the structure */
        structure: "symphysis" | "fetal-head" | "fetal-abdomen" | "fetal-femur" | "thalami" | "midbrain" | "palate" | "intracranial-translucency" | "cisterna-magna" | "nuchal-translucency" | "nasal-bone" | "nasal-tip" | "nasal-skin";
        /** Confidence of the model, from 0 to 1 */
        confidence: number;
        /** False if the confidence is below the gate of the model, or if the shape does not fit the structure */
        accepted: boolean;
        /** Place of the structure on the frame */
        place: {
          /** `line`: both ends; `ellipse`: both ends of one axis, then of the other; `polygon`: a closed outline whose first point is not repeated; `rectangle`: top left and bottom right corner */
          type: "line" | "ellipse" | "polygon" | "rectangle";
          /** Points as [x, y], in pixels of the stored frame, at pixel centres */
          points: Array<[number, number]>;
        };
      }>;
      [name: string]: unknown;
    };
    /** Names of the artifacts that belong to the section */
    artifacts: Array<string>;
  } | {
    id: "biometry";
    /** Title of the section */
    title: string;
    /** `complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error */
    status: "complete" | "partial" | "not_assessed" | "inadequate" | "not_requested" | "failed";
    /** Why the section is not complete; null if it is complete */
    reason: {
      /** Code of the reason */
      code: string;
      /** The reason as text */
      detail: string;
      /** Input that would complete the section */
      needs: Array<string>;
      /** What is missing, as data; `detail` is rendered from it */
      gaps?: Array<Statement>;
    } | null;
    /** What the section concludes, as data; `summary` is rendered from it */
    statements?: Array<Statement>;
    /** What the section concludes, as text */
    summary: string;
    /** Further data of the section `biometry` */
    data: {
      /** Structures that were found, with their places in pixels */
      structures?: Array<{
        /** Name of the file in the request */
        file: string;
        /** SOP Instance UID of the image; null if the file is not DICOM */
        sop_instance_uid: string | null;
        /** Frame number, from 1 */
        frame: number;
        /** Key of the structure */
        structure: "symphysis" | "fetal-head" | "fetal-abdomen" | "fetal-femur" | "thalami" | "midbrain" | "palate" | "intracranial-translucency" | "cisterna-magna" | "nuchal-translucency" | "nasal-bone" | "nasal-tip" | "nasal-skin";
        /** Confidence of the model, from 0 to 1 */
        confidence: number;
        /** False if the confidence is below the gate of the model, or if the shape does not fit the structure */
        accepted: boolean;
        /** Place of the structure on the frame */
        place: {
          /** `line`: both ends; `ellipse`: both ends of one axis, then of the other; `polygon`: a closed outline whose first point is not repeated; `rectangle`: top left and bottom right corner */
          type: "line" | "ellipse" | "polygon" | "rectangle";
          /** Points as [x, y], in pixels of the stored frame, at pixel centres */
          points: Array<[number, number]>;
        };
      }>;
      [name: string]: unknown;
    };
    /** Names of the artifacts that belong to the section */
    artifacts: Array<string>;
  } | {
    id: "labor-progress";
    /** Title of the section */
    title: string;
    /** `complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error */
    status: "complete" | "partial" | "not_assessed" | "inadequate" | "not_requested" | "failed";
    /** Why the section is not complete; null if it is complete */
    reason: {
      /** Code of the reason */
      code: string;
      /** The reason as text */
      detail: string;
      /** Input that would complete the section */
      needs: Array<string>;
      /** What is missing, as data; `detail` is rendered from it */
      gaps?: Array<Statement>;
    } | null;
    /** What the section concludes, as data; `summary` is rendered from it */
    statements?: Array<Statement>;
    /** What the section concludes, as text */
    summary: string;
    /** Further data of the section `labor-progress` */
    data: {
      /** Structures that were found, with their places in pixels */
      structures?: Array<{
        /** Name of the file in the request */
        file: string;
        /** SOP Instance UID of the image; null if the file is not DICOM */
        sop_instance_uid: string | null;
        /** Frame number, from 1 */
        frame: number;
        /** Key of the structure */
        structure: "symphysis" | "fetal-head" | "fetal-abdomen" | "fetal-femur" | "thalami" | "midbrain" | "palate" | "intracranial-translucency" | "cisterna-magna" | "nuchal-translucency" | "nasal-bone" | "nasal-tip" | "nasal-skin";
        /** Confidence of the model, from 0 to 1 */
        confidence: number;
        /** False if the confidence is below the gate of the model, or if the shape does not fit the structure */
        accepted: boolean;
        /** Place of the structure on the frame */
        place: {
          /** `line`: both ends; `ellipse`: both ends of one axis, then of the other; `polygon`: a closed outline whose first point is not repeated; `rectangle`: top left and bottom right corner */
          type: "line" | "ellipse" | "polygon" | "rectangle";
          /** Points as [x, y], in pixels of the stored frame, at pixel centres */
          points: Array<[number, number]>;
        };
      }>;
      [name: string]: unknown;
    };
    /** Names of the artifacts that belong to the section */
    artifacts: Array<string>;
  } | {
    /** Id of the section */
    id: string;
    /** Title of the section */
    title: string;
    /** `complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error */
    status: "complete" | "partial" | "not_assessed" | "inadequate" | "not_requested" | "failed";
    /** Why the section is not complete; null if it is complete */
    reason: {
      /** Code of the reason */
      code: string;
      /** The reason as text */
      detail: string;
      /** Input that would complete the section */
      needs: Array<string>;
      /** What is missing, as data; `detail` is rendered from it */
      gaps?: Array<Statement>;
    } | null;
    /** What the section concludes, as data; `summary` is rendered from it */
    statements?: Array<Statement>;
    /** What the section concludes, as text */
    summary: string;
    /** Further data of the section; the fields differ from section to section */
    data: Record<string, unknown>;
    /** Names of the artifacts that belong to the section */
    artifacts: Array<string>;
  }>;
  /** Findings of all sections */
  findings: Array<Finding>;
  /** Measurements of all sections, including those that must not be used */
  measurements: Array<Measurement>;
  /** Scores; empty if no section could give one */
  scores: Array<{
    /** Id of the score in this result */
    id: string;
    /** Id of the section that gave the score */
    section: string;
    /** Coded concept; null if no code applies */
    concept: Concept | null;
    /** Name of the score */
    name: string;
    /** Value of the score */
    value: number;
    /** Lowest and highest possible value */
    range: [number, number];
    /** Components from which the score was calculated */
    components: Array<{
      /** Name of the component */
      name: string;
      /** Score of the component */
      value: number;
    }>;
  }>;
  /** Categories and grades by named guidelines */
  classifications: Array<{
    /** Id of the classification in this result */
    id: string;
    /** Id of the section that gave the classification */
    section: string;
    /** Coded concept; null if no code applies */
    concept: Concept | null;
    /** Name of the classification */
    name: string;
    /** Category that was given */
    value: string;
    /** Guideline that defines the categories */
    scheme: string;
    /** Criteria that led to the category */
    criteria: Array<{
      /** Criterion */
      name: string;
      /** Value that was compared, as text; null if it is not available, or if the outcome says all */
      value: string | null;
      /** `met`; `not_met`; `not_available`: what the criterion needs was not measured or seen; `at_cut_off`: the interval of the value includes the cut-off. Absent in results of earlier versions, whose `value` may be the outcome in words. */
      outcome?: "met" | "not_met" | "not_available" | "at_cut_off";
      /** True only if the outcome is `met` */
      met: boolean;
    }>;
  }>;
  /** Recommendations of guidelines for the findings; empty if there are none */
  guidance: Array<{
    /** Id of the recommendation in this result */
    id: string;
    /** Id of the section that gives the recommendation */
    section: string;
    /** The recommendation as data; `text` is rendered from it */
    statement?: Statement;
    /** Used instead of `statement` if there are several statements */
    statements?: Array<Statement>;
    /** The recommendation as text */
    text: string;
    /** Guideline that makes the recommendation */
    source: string;
  }>;
  /** The draft report; null unless the request sets `options.report` */
  report: {
    /** Language of the report */
    language: "en";
    /** Title of the report */
    title: string;
    /** Sentences of the findings, in order */
    findings: Array<string>;
    /** Impression in at most five lines, the most important first; rendered from `impression_lines` */
    impression: Array<string>;
    /** The lines of the impression, as data */
    impression_lines?: Array<{
      /** Topic of the line */
      topic: string;
      /** Severity; `critical` must be reported at once */
      severity: "info" | "abnormal" | "critical";
      /** The clauses of the line, as data */
      statements: Array<Statement>;
    }>;
    /** Limitations of the report */
    limitations: Array<string>;
  } | null;
  /** Files made from the result */
  artifacts: Array<ResultArtifact>;
};

/** A key, without its secret */
export type Key = {
  /** Id of the key */
  id: string;
  /** Kind of this object */
  object: "key";
  /** Name, chosen by you */
  name: string;
  /** True for a test key, which uses the mock backend */
  test: boolean;
  /** Scopes of the key */
  scopes: Array<"run" | "read" | "uploads" | "store" | "retrieve" | "review" | "sign" | "admin">;
  /** When it was created */
  created_at: string;
  /** When it was last used */
  last_used_at: string | null;
  /** When it expires */
  expires_at: string | null;
  /** When it was revoked */
  revoked_at: string | null;
};

/** The keys of the account */
export type KeyList = {
  /** All keys */
  data: Array<Key>;
};

/** A request without input and output */
export type ListedRequest = {
  /** Id of the request */
  id: string;
  /** Kind of this object */
  object: "request";
  /** Model */
  model: string;
  /** Endpoint of the model */
  endpoint: string;
  /** Version of the endpoint that handles the request */
  version: string;
  /** `queued`, `preparing` and `running`; then `succeeded`, `failed`, `canceled` or `rejected` (the input cannot be interpreted). `succeeded` becomes `expired` when the result is purged */
  status: "queued" | "preparing" | "running" | "succeeded" | "failed" | "canceled" | "rejected" | "expired";
  stage: Stage;
  /** When the request was submitted */
  created_at: string;
  /** When a worker started it */
  started_at: string | null;
  /** When it ended */
  ended_at: string | null;
  /** When the result will be purged; null without one. The `input` of a request that ended without a result is removed after the same time (`retention.days`) */
  expires_at: string | null;
  /** Key that made the request; null for studies received by DICOM */
  key: string | null;
  /** True if made with a test key */
  test: boolean;
  /** Priority among waiting requests */
  priority: "low" | "normal" | "high";
  /** Your own data, as submitted */
  metadata: unknown;
  /** Webhook for events of the request */
  webhook: {
    /** URL that is called */
    url: string;
    /** Events for which it is called */
    events: Array<"request.succeeded" | "request.failed" | "request.triage" | "request.verified" | "request.withdrawn">;
  } | null;
  /** How the request was submitted; contains no patient identity */
  source: {
    /** Interface that was used */
    kind: "api" | "queue" | "dicom";
  };
  /** Cost of the request if it succeeds; 0.00 with a test key, and if the request ends without a result */
  cost: {
    /** Always USD */
    currency: "USD";
    /** Sum of all lines; a decimal number in USD, as a string to keep it exact */
    total: string;
    /** Items that make up the total; empty for test keys */
    lines: Array<{
      /** Item charged */
      item: string;
      /** Quantity */
      quantity: number;
      /** Price per unit; a decimal number in USD, as a string to keep it exact */
      unit_price: string;
      /** Quantity times unit price; a decimal number in USD, as a string to keep it exact */
      amount: string;
    }>;
  };
  /** Why there is no result; null otherwise */
  error: Problem | null;
  /** Null unless a person has withdrawn the result */
  withdrawal: {
    /** When the result was withdrawn */
    at: string;
    /** Who withdrew it: the name of a person, or of a key */
    by: string;
    /** Why */
    reason: "wrong-patient" | "wrong-study" | "wrong-order" | "wrong-measurement" | "quality";
    /** What the person wrote about it */
    text: string | null;
    /** State at each receiver of the result; absent in list items */
    receivers?: Array<{
      /** Name of the receiver */
      destination: string;
      /** `pending`, until the receiver has confirmed the withdrawal; `withdrawn`; `not_present`, if it has nothing to withdraw; `by_hand`, if people must withdraw the result there; `closed`, once a person has stated that nothing is left to do there */
      state: "pending" | "withdrawn" | "not_present" | "by_hand" | "closed";
      /** Who closed it; only if the state is `closed` */
      closed?: {
        /** When it was closed */
        at: string;
        /** Who closed it */
        by: string;
        /** Why */
        reason: string;
      };
    }>;
  } | null;
  /** URLs of the request */
  urls: {
    /** The request */
    self: string;
    /** Events of the request */
    events: string;
    /** POST here to cancel the request */
    cancel: string;
  };
};

/** One measured value with its source */
export type Measurement = {
  /** Id of the measurement, unique in this result */
  id: string;
  /** Id of the section that made the measurement */
  section: string;
  /** The quantity that was measured */
  concept: Concept;
  /** Name of the quantity for people */
  label: string;
  /** Value in `unit` */
  value: number;
  /** Unit as a UCUM code */
  unit: string;
  /** Key of the measuring method */
  method: string;
  /** Whether the value was measured, calculated from other values, or is the mean or median of repeated values */
  derivation: "measured" | "calculated" | "mean" | "median";
  /** Where the value was measured */
  source: {
    /** How the value was obtained: `model`: by a neural network; `image-analysis`: by image analysis without a model; `cart-sr`: from the structured report of the ultrasound machine; `input`: from the request; `person`: entered or edited by a person */
    provenance: "model" | "image-analysis" | "cart-sr" | "input" | "person";
    /** Name of the file in the request */
    file: string | null;
    /** SOP Instance UID of the image; null if the file is not DICOM */
    sop_instance_uid: string | null;
    /** Frame number, from 1; null for a value that belongs to no single frame */
    frame: number | null;
    /** Calipers drawn on the frame */
    calipers: Array<Caliper>;
  };
  /** Finding site in the body */
  site: string | null;
  /** Side of the body */
  laterality: "left" | "right" | null;
  /** Letter or number of the fetus; null for an only fetus or if no fetus is named */
  fetus: string | null;
  /** Phase of the cardiac cycle or of the Doppler curve */
  phase: string | null;
  /** Confidence of the model or analysis, from 0 to 1; null if it gives no confidence */
  confidence: number | null;
  /** Half width of the 95 % interval, in `unit`; null if not known */
  uncertainty: number | null;
  /** `accepted`: may be used; `review`: must not be used until a person confirms it, because the method was not validated on real images of this kind; `low`: the image or the model is not certain enough; `inadequate`: beyond its limits or contradicted by another value. Values with `low` or `inadequate` must not be used. */
  quality: "accepted" | "review" | "low" | "inadequate";
  /** Key of the evidence for the method in the table of evidence; absent if there is no evidence, or if Sonogate did not measure the value */
  evidence?: string;
  /** Reference range; null if no chart applies */
  reference: {
    /** Lower limit of the reference range */
    low: number | null;
    /** Upper limit of the reference range */
    high: number | null;
    /** Centile of the value */
    centile: number | null;
    /** z-score of the value */
    z_score: number | null;
    /** Chart or guideline from which the range is taken */
    chart: string;
  } | null;
  /** `N`: normal; `L`: low; `H`: high; `A`: abnormal; null if not judged */
  interpretation: "N" | "L" | "H" | "A" | null;
  /** How a person made the value count in a review: accepted it, edited it, or entered another one; absent otherwise */
  confirmed?: "accepted" | "edited" | "entered";
  /** Ids of the measurements from which the value was calculated */
  inputs: Array<string>;
  /** Where the value comes from: an image of the study, the ultrasound machine, the request, or a person */
  origin: "image" | "machine" | "request" | "person";
  /** Which of several values of a quantity to use: `counts`: use this one; `proposed`: would count if a person confirmed it; `repeat`: another value was chosen; `part-of-mean`: input of a mean or median; `comparison`: the machine’s value beside an accepted one of Sonogate; `withheld`: not accepted */
  standing: "counts" | "proposed" | "repeat" | "part-of-mean" | "comparison" | "withheld";
  /** Remarks that must be read with the value, as data */
  remarks: Array<Remark>;
  /** The remarks as text; null if there are no remarks */
  note: string | null;
};

/** An endpoint with all its details */
export type ModelDetail = {
  /** Endpoint */
  id: string;
  /** Model; also a short name for the endpoint */
  model: string;
  /** Version */
  version: string;
  /** Name */
  title: string;
  /** URLs of the endpoint */
  urls: {
    /** POST here to submit */
    run: string;
    /** OpenAPI description of the endpoint */
    openapi: string;
  };
  /** All versions */
  versions: Array<string>;
  /** Price of a run */
  prices: {
    /** Always USD */
    currency: "USD";
    /** Prices of the run and of the report */
    lines: Array<{
      /** Item charged */
      item: string;
      /** Price; a decimal number in USD, as a string to keep it exact */
      unit_price: string;
    }>;
    /** Prices by number of frames; null if there is only one price */
    by_frames: Array<{
      /** Maximum number of frames at this price; null for no limit */
      up_to_frames: number | null;
      /** Price of the run; a decimal number in USD, as a string to keep it exact */
      price: string;
    }> | null;
  };
  /** Limits of this gateway */
  limits: {
    /** Maximum size of a request body */
    body_bytes: number;
    /** Maximum size of a file */
    file_bytes: number;
  };
  /** Sections of every result */
  sections: Array<{
    /** Id */
    id: string;
    /** Title */
    title: string;
  }>;
  /** Models that a result may list */
  models: Array<{
    /** Name */
    id: string;
    /** Version */
    version: string;
    /** Task of the model */
    task: string;
    /** Licence */
    licence: string;
    /** `permissive`: usable by anyone; `research`: only for non-commercial research */
    pack: "permissive" | "research";
    /** SHA-256 of the weights */
    sha256: string;
    /** Accuracy measured on held-out data */
    accuracy: unknown;
  }>;
};

/** The endpoints of this gateway */
export type ModelList = {
  /** All endpoints */
  data: Array<{
    /** Endpoint */
    id: string;
    /** Model; also a short name for the endpoint */
    model: string;
    /** Version */
    version: string;
    /** Name */
    title: string;
    /** URLs of the endpoint */
    urls: {
      /** POST here to submit */
      run: string;
      /** OpenAPI description of the endpoint */
      openapi: string;
    };
  }>;
};

/** A newly created key */
export type NewKey = {
  /** Id of the key */
  id: string;
  /** Kind of this object */
  object: "key";
  /** Name, chosen by you */
  name: string;
  /** True for a test key, which uses the mock backend */
  test: boolean;
  /** Scopes of the key */
  scopes: Array<"run" | "read" | "uploads" | "store" | "retrieve" | "review" | "sign" | "admin">;
  /** When it was created */
  created_at: string;
  /** When it was last used */
  last_used_at: string | null;
  /** When it expires */
  expires_at: string | null;
  /** When it was revoked */
  revoked_at: string | null;
  /** The secret key; returned only in this response, and null if the response is replayed */
  key: string | null;
};

/** Problem details (RFC 9457) */
export type Problem = {
  /** URL of a page that explains the code */
  type: string;
  /** Title of the error */
  title: string;
  /** HTTP status */
  status: number;
  /** Explanation specific to this occurrence */
  detail: string;
  /** Stable code of the error, explained at `/errors/{code}` */
  code: string;
  /** Path of the resource that the error concerns */
  instance?: string;
  /** The `X-Request-Id` of the call */
  request_id?: string;
  /** Every error in the body */
  errors?: Array<{
    /** Location in the body (JSON Pointer, RFC 6901) */
    pointer: string;
    /** What is wrong at this location */
    detail: string;
  }>;
};

/** A remark that must be read with a value, as data */
export type Remark = {
  /** Code of the remark */
  code: string;
  /** Parameters that its text prints */
  params: Record<string, unknown>;
};

/** One interpretation, from submission to result */
export type Request = {
  /** Id of the request */
  id: string;
  /** Kind of this object */
  object: "request";
  /** Model */
  model: string;
  /** Endpoint of the model */
  endpoint: string;
  /** Version of the endpoint that handles the request */
  version: string;
  /** `queued`, `preparing` and `running`; then `succeeded`, `failed`, `canceled` or `rejected` (the input cannot be interpreted). `succeeded` becomes `expired` when the result is purged */
  status: "queued" | "preparing" | "running" | "succeeded" | "failed" | "canceled" | "rejected" | "expired";
  stage: Stage;
  /** When the request was submitted */
  created_at: string;
  /** When a worker started it */
  started_at: string | null;
  /** When it ended */
  ended_at: string | null;
  /** When the result will be purged; null without one. The `input` of a request that ended without a result is removed after the same time (`retention.days`) */
  expires_at: string | null;
  /** Key that made the request; null for studies received by DICOM */
  key: string | null;
  /** True if made with a test key */
  test: boolean;
  /** Priority among waiting requests */
  priority: "low" | "normal" | "high";
  /** Your own data, as submitted */
  metadata: unknown;
  /** Webhook for events of the request */
  webhook: {
    /** URL that is called */
    url: string;
    /** Events for which it is called */
    events: Array<"request.succeeded" | "request.failed" | "request.triage" | "request.verified" | "request.withdrawn">;
  } | null;
  /** How the request was submitted; contains no patient identity */
  source: {
    /** Interface that was used */
    kind: "api" | "queue" | "dicom";
  };
  /** Cost of the request if it succeeds; 0.00 with a test key, and if the request ends without a result */
  cost: {
    /** Always USD */
    currency: "USD";
    /** Sum of all lines; a decimal number in USD, as a string to keep it exact */
    total: string;
    /** Items that make up the total; empty for test keys */
    lines: Array<{
      /** Item charged */
      item: string;
      /** Quantity */
      quantity: number;
      /** Price per unit; a decimal number in USD, as a string to keep it exact */
      unit_price: string;
      /** Quantity times unit price; a decimal number in USD, as a string to keep it exact */
      amount: string;
    }>;
  };
  /** Why there is no result; null otherwise */
  error: Problem | null;
  /** Null unless a person has withdrawn the result */
  withdrawal: {
    /** When the result was withdrawn */
    at: string;
    /** Who withdrew it: the name of a person, or of a key */
    by: string;
    /** Why */
    reason: "wrong-patient" | "wrong-study" | "wrong-order" | "wrong-measurement" | "quality";
    /** What the person wrote about it */
    text: string | null;
    /** State at each receiver of the result; absent in list items */
    receivers?: Array<{
      /** Name of the receiver */
      destination: string;
      /** `pending`, until the receiver has confirmed the withdrawal; `withdrawn`; `not_present`, if it has nothing to withdraw; `by_hand`, if people must withdraw the result there; `closed`, once a person has stated that nothing is left to do there */
      state: "pending" | "withdrawn" | "not_present" | "by_hand" | "closed";
      /** Who closed it; only if the state is `closed` */
      closed?: {
        /** When it was closed */
        at: string;
        /** Who closed it */
        by: string;
        /** Why */
        reason: string;
      };
    }>;
  } | null;
  /** URLs of the request */
  urls: {
    /** The request */
    self: string;
    /** Events of the request */
    events: string;
    /** POST here to cancel the request */
    cancel: string;
  };
  /** The input as submitted; null when purged */
  input: Record<string, unknown> | null;
  /** The result envelope of the endpoint; null unless succeeded */
  output: InterpretObstetricOutput | InterpretEchoOutput | null;
};

/** One page of a list */
export type RequestPage = {
  /** Newest first */
  data: Array<ListedRequest>;
  /** Whether another page follows */
  has_more: boolean;
  /** `cursor` of the next page */
  next_cursor: string | null;
};

/** A file of the result */
export type ResultArtifact = {
  /** File name */
  name: string;
  /** Media type */
  media_type: string;
  /** Size in bytes */
  bytes: number;
  /** SHA-256 of the file */
  sha256: string;
  /** Id of the section to which the file belongs; null if it belongs to no single section */
  section: string | null;
};

/** A review of a result */
export type Review = {
  /** Kind of this object */
  object: "review";
  /** Request under review */
  request: string;
  /** State of the review */
  state: "draft" | "in-review" | "signed" | "amended";
  /** Revision of the review */
  revision: number;
  /** Last signed revision; 0 if none */
  signed_revision: number;
  /** Value for `If-Match` in the next change */
  etag: string;
  /** Result after the changes */
  result: Record<string, unknown>;
  /** Measurements of the draft, by id */
  original: Record<string, unknown>;
  /** All changes, oldest first */
  changes: Array<{
    /** Number of the change */
    id: number;
    /** When */
    at: string;
    /** Author of the change */
    author: string;
    /** Kind of change */
    kind: string;
    /** The change as submitted */
    change: {
      kind: "accept";
      /** Id of a measurement, as the reviewed result or the original lists it */
      measurement: string;
    } | {
      kind: "reject";
      /** Id of a measurement, as the reviewed result or the original lists it */
      measurement: string;
      /** Why, in words */
      reason?: string;
    } | {
      kind: "set-value";
      /** Id of a measurement, as the reviewed result or the original lists it */
      measurement: string;
      /** The value, in the unit of the measurement */
      value: number;
    } | {
      kind: "move-calipers";
      /** Id of a measurement, as the reviewed result or the original lists it */
      measurement: string;
      /** Both ends of a line, or both ends of both axes of an ellipse: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result */
      points: Array<[number, number]>;
    } | {
      kind: "set-outline";
      /** Id of a measurement, as the reviewed result or the original lists it */
      measurement: string;
      /** The outline: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result */
      points: Array<[number, number]>;
    } | {
      kind: "choose-repeat";
      /** Id of a measurement, as the reviewed result or the original lists it */
      measurement: string;
    } | {
      kind: "choose-frame";
      /** Id of a measurement, as the reviewed result or the original lists it */
      measurement: string;
      /** Frame of the clip, from 1 */
      frame: number;
      /** Both ends of a line, or both ends of both axes of an ellipse: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result */
      points?: Array<[number, number]>;
    } | {
      kind: "name-view";
      /** File of the request */
      file: string;
      /** Name of the view */
      view: string;
    } | {
      kind: "name-plane";
      /** File of the request */
      file: string;
      /** Frame of the clip, from 1 */
      frame: number;
      /** Name of the plane */
      plane: string;
    } | {
      kind: "note";
      /** The line */
      text: string;
    } | {
      kind: "undo";
      /** Number of the change to take back */
      change: number;
    };
    /** Affected parts of the review before the change */
    before: {
      /** Value of the measurement */
      value: number | null;
      /** Its unit, UCUM */
      unit: string | null;
      /** Quality of the measurement: `accepted` counts */
      quality: string | null;
      /** A view, a plane or a note */
      text: string | null;
      /** Frame of the clip, from 1 */
      frame: number | null;
      /** Calipers or outline: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result */
      points: Array<[number, number]> | null;
    };
    /** Affected parts of the review after the change */
    after: {
      /** Value of the measurement */
      value: number | null;
      /** Its unit, UCUM */
      unit: string | null;
      /** Quality of the measurement: `accepted` counts */
      quality: string | null;
      /** A view, a plane or a note */
      text: string | null;
      /** Frame of the clip, from 1 */
      frame: number | null;
      /** Calipers or outline: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result */
      points: Array<[number, number]> | null;
    };
    /** True if the change was undone */
    undone: boolean;
  }>;
  /** Signatures, oldest first */
  signatures: Array<{
    /** Name of the person who signed */
    observer: string;
    /** Organization of that person */
    organization: string;
    /** When */
    at: string;
    /** Statement made with the signature */
    statement: string | null;
  }>;
  /** Number of signatures required */
  signatures_needed: number;
  /** People who currently have the review open */
  readers: Array<string>;
  /** Permissions of the key */
  may: {
    /** True if the key may change the review */
    edit: boolean;
    /** True if the key may sign the result */
    sign: boolean;
  };
};

/** Current stage of a request */
export type Stage = {
  /** `received` and `validating` (in short: `received`), `queued_gpu` (`queued`), `starting` and `preprocessing` (`preprocessing`), `inference.<step>` and `postprocessing` (`inference`), `reporting` and `uploading` (`report`), `completed`; new steps may be added */
  name: string;
  /** Human-readable name of the stage */
  label: string;
  /** Fraction of the whole run that is complete */
  progress: number;
  /** Estimated seconds remaining; null if unknown */
  eta_s: number | null;
};

/** One statement of the result, as data */
export type Statement = {
  /** Kind of statement */
  kind: "value" | "conclusion" | "gap" | "advice" | "limitation";
  /** Code of the statement */
  code: string;
  /** Ids of the measurements that it is about */
  about: Array<string>;
  /** Name of the fetus if there are several; otherwise null */
  fetus: string | null;
  /** Parameters that its sentence prints */
  params: Record<string, unknown>;
};

/** A critical flag */
export type TriageFlag = {
  /** Code of the finding */
  code: string;
  /** Coding system */
  system: string;
  /** Human-readable form of the code */
  display: string;
  /** Always critical */
  severity: "critical";
  /** Section of the result */
  section: string;
  /** Ids of the measurements or frames that support it */
  evidence: Array<string>;
  /** When the flag was raised */
  at: string;
};

/** A file, and where to PUT its bytes */
export type Upload = {
  file: File;
  /** Where to PUT the bytes; null once the file is ready */
  upload: WholeUpload | UploadInParts | null;
  /** POST here once all bytes have been sent */
  complete_url: string;
};

/** A URL for each part */
export type UploadInParts = {
  /** Size of every part except the last */
  part_size: number;
  /** All parts, including those already uploaded */
  parts: Array<UploadPart>;
  /** When the URLs expire */
  expires_at: string;
};

/** One part of a large file */
export type UploadPart = {
  /** Number of the part, from 1 */
  part_number: number;
  /** PUT the part here; needs no key */
  url: string;
  /** Headers to send with the bytes */
  headers: Record<string, string>;
  /** Offset of the part in the file */
  first_byte: number;
  /** Size of the part */
  bytes: number;
  /** ETag of the uploaded part; null until its bytes have arrived */
  etag: string | null;
};

/** Number and cost of requests */
export type Usage = {
  /** One entry per month and key */
  data: Array<{
    /** Month (UTC) */
    month: string;
    /** Id of the key; null for studies received by DICOM */
    key: string | null;
    /** Requests that ended */
    requests: number;
    /** Number of these that succeeded */
    succeeded: number;
    /** Cost of these requests */
    cost: {
      /** Always USD */
      currency: "USD";
      /** Sum; a decimal number in USD, as a string to keep it exact */
      total: string;
    };
  }>;
};

/** One page of a list */
export type WebhookDeliveries = {
  /** Newest first */
  data: Array<WebhookDelivery>;
  /** Whether another page follows */
  has_more: boolean;
  /** `cursor` of the next page */
  next_cursor: string | null;
};

/** A webhook delivery with its attempts */
export type WebhookDelivery = {
  /** The `webhook-id` of every attempt */
  id: string;
  /** Kind of this object */
  object: "webhook_delivery";
  /** Request that the event concerns */
  request: string;
  /** Event */
  event: string;
  /** Address */
  url: string;
  /** `dead` once the delivery has been given up, `closed` once the site has decided not to send it any more */
  state: "pending" | "sending" | "delivered" | "dead" | "diverted" | "closed";
  /** When the URL was disabled */
  disabled_at: string | null;
  /** When the event happened */
  created_at: string;
  /** When the next attempt is due */
  next_attempt_at: string | null;
  /** When the webhook was delivered or given up */
  ended_at: string | null;
  /** Why the last attempt failed */
  error: {
    /** Stable code of the error, explained at `/errors/{code}` */
    code: string;
    /** Explanation specific to this occurrence */
    detail: string | null;
  } | null;
  /** All attempts */
  attempts: Array<{
    /** When */
    at: string;
    /** HTTP status of your response */
    status: number | null;
    /** Duration of the attempt in milliseconds */
    duration_ms: number;
    /** Size of your response */
    answer_bytes: number;
    /** What went wrong */
    error: string | null;
  }>;
};

/** Body of a webhook */
export type WebhookMessage = {
  /** Id of the request */
  id: string;
  /** Kind of this object */
  object: "request";
  /** Model */
  model: string;
  /** Endpoint of the model */
  endpoint: string;
  /** Version of the endpoint that handles the request */
  version: string;
  /** `queued`, `preparing` and `running`; then `succeeded`, `failed`, `canceled` or `rejected` (the input cannot be interpreted). `succeeded` becomes `expired` when the result is purged */
  status: "queued" | "preparing" | "running" | "succeeded" | "failed" | "canceled" | "rejected" | "expired";
  stage: Stage;
  /** When the request was submitted */
  created_at: string;
  /** When a worker started it */
  started_at: string | null;
  /** When it ended */
  ended_at: string | null;
  /** When the result will be purged; null without one. The `input` of a request that ended without a result is removed after the same time (`retention.days`) */
  expires_at: string | null;
  /** Key that made the request; null for studies received by DICOM */
  key: string | null;
  /** True if made with a test key */
  test: boolean;
  /** Priority among waiting requests */
  priority: "low" | "normal" | "high";
  /** Your own data, as submitted */
  metadata: unknown;
  /** Webhook for events of the request */
  webhook: {
    /** URL that is called */
    url: string;
    /** Events for which it is called */
    events: Array<"request.succeeded" | "request.failed" | "request.triage" | "request.verified" | "request.withdrawn">;
  } | null;
  /** How the request was submitted; contains no patient identity */
  source: {
    /** Interface that was used */
    kind: "api" | "queue" | "dicom";
  };
  /** Cost of the request if it succeeds; 0.00 with a test key, and if the request ends without a result */
  cost: {
    /** Always USD */
    currency: "USD";
    /** Sum of all lines; a decimal number in USD, as a string to keep it exact */
    total: string;
    /** Items that make up the total; empty for test keys */
    lines: Array<{
      /** Item charged */
      item: string;
      /** Quantity */
      quantity: number;
      /** Price per unit; a decimal number in USD, as a string to keep it exact */
      unit_price: string;
      /** Quantity times unit price; a decimal number in USD, as a string to keep it exact */
      amount: string;
    }>;
  };
  /** Why there is no result; null otherwise */
  error: Problem | null;
  /** Null unless a person has withdrawn the result */
  withdrawal: {
    /** When the result was withdrawn */
    at: string;
    /** Who withdrew it: the name of a person, or of a key */
    by: string;
    /** Why */
    reason: "wrong-patient" | "wrong-study" | "wrong-order" | "wrong-measurement" | "quality";
    /** What the person wrote about it */
    text: string | null;
    /** State at each receiver of the result; absent in list items */
    receivers?: Array<{
      /** Name of the receiver */
      destination: string;
      /** `pending`, until the receiver has confirmed the withdrawal; `withdrawn`; `not_present`, if it has nothing to withdraw; `by_hand`, if people must withdraw the result there; `closed`, once a person has stated that nothing is left to do there */
      state: "pending" | "withdrawn" | "not_present" | "by_hand" | "closed";
      /** Who closed it; only if the state is `closed` */
      closed?: {
        /** When it was closed */
        at: string;
        /** Who closed it */
        by: string;
        /** Why */
        reason: string;
      };
    }>;
  } | null;
  /** URLs of the request */
  urls: {
    /** The request */
    self: string;
    /** Events of the request */
    events: string;
    /** POST here to cancel the request */
    cancel: string;
  };
  /** The input as submitted; null when purged */
  input: Record<string, unknown> | null;
  /** The result envelope of the endpoint; null unless succeeded */
  output: unknown;
  /** Event that caused the call */
  event: "request.succeeded" | "request.failed" | "request.triage" | "request.verified" | "request.withdrawn";
  /** Critical flags raised so far, oldest first */
  triage: Array<TriageFlag>;
  /** Present if `output` is too long for a webhook; fetch it from `urls.self` */
  output_omitted?: true;
  /** Present if `input` is too long, too */
  input_omitted?: true;
};

/** The secret used to sign webhooks */
export type WebhookSecret = {
  /** Kind of this object */
  object: "webhook_secret";
  /** The signing secret; null if the response is replayed */
  secret: string | null;
  /** When it was created */
  created_at?: string;
};

/** A single URL for the whole file */
export type WholeUpload = {
  /** PUT the bytes here; needs no key */
  url: string;
  /** HTTP method to use */
  method: "PUT";
  /** Headers to send with the bytes */
  headers: Record<string, string>;
  /** When the URL expires */
  expires_at: string;
};

export type InterpretObstetricBody = {
  /** Input of the endpoint */
  input: {
    /** Files of the examination: ids of uploads, or URLs of hosted files */
    files: Array<string>;
    /** Files of earlier examinations of the same patient: ids of uploads, or URLs of hosted files */
    prior_files?: Array<string>;
    /** Options of the interpretation */
    options?: {
      /** Dating of the pregnancy; growth is not judged without it */
      dating?: {
        /** Gestational age on the day of the examination, in days */
        ga_days: number;
        /** Method by which the pregnancy was dated: last menstrual period, CRL, earlier scan or IVF */
        basis?: "lmp" | "crl" | "prior_scan" | "ivf";
      };
      /** Scale in mm per pixel, for stills and videos that do not state one: one number for all files, or a list with one entry for each file in the same order, null if the scale of that file is not known */
      mm_per_px?: number | Array<number | null>;
      /** True: the result includes a draft report as text */
      report?: boolean;
      /** Language of the report */
      report_language?: "en";
      /** Formats of the result */
      return?: Array<"json">;
      /** True: previews with calipers are made for viewers */
      previews?: boolean;
    };
    /** Clinical context of the patient, without identity */
    clinical_context?: {
      /** Age of the patient in years; if it is missing, an echo is read as that of an adult */
      age_years?: number;
      /** Sex of the patient; selects the reference ranges of an echo */
      sex?: "female" | "male" | "other" | "unknown";
      /** Reason for the examination, without names, identifiers and dates */
      indication?: string;
    };
  };
  /** Webhook for events of the request */
  webhook?: {
    /** https URL to call; its host must be public or permitted by the site */
    url: string;
    /** Events to send. `request.triage` (each critical flag, immediately), `request.verified` (signed by a person) and `request.withdrawn` are sent only if listed */
    events?: Array<"request.succeeded" | "request.failed" | "request.triage" | "request.verified" | "request.withdrawn">;
  };
  /** Priority among waiting requests */
  priority?: "low" | "normal" | "high";
  /** Any JSON value of up to 32768 bytes; it is returned with the request and in webhooks. With a test key, its member `mock` selects another outcome */
  metadata?: unknown;
};

export type InterpretEchoBody = {
  /** Input of the endpoint */
  input: {
    /** Files of the examination: ids of uploads, or URLs of hosted files */
    files: Array<string>;
    /** Files of earlier examinations of the same patient: ids of uploads, or URLs of hosted files */
    prior_files?: Array<string>;
    /** Options of the interpretation */
    options?: {
      /** True: the result includes a draft report as text */
      report?: boolean;
      /** Language of the report */
      report_language?: "en";
      /** Formats of the result */
      return?: Array<"json">;
    };
    /** Clinical context of the patient, without identity */
    clinical_context?: {
      /** Age of the patient in years; if it is missing, an echo is read as that of an adult */
      age_years?: number;
      /** Sex of the patient; selects the reference ranges of an echo */
      sex?: "female" | "male" | "other" | "unknown";
      /** Reason for the examination, without names, identifiers and dates */
      indication?: string;
      /** Height in cm; with the weight, it gives the body surface area */
      height_cm?: number;
      /** Weight in kg */
      weight_kg?: number;
    };
  };
  /** Webhook for events of the request */
  webhook?: {
    /** https URL to call; its host must be public or permitted by the site */
    url: string;
    /** Events to send. `request.triage` (each critical flag, immediately), `request.verified` (signed by a person) and `request.withdrawn` are sent only if listed */
    events?: Array<"request.succeeded" | "request.failed" | "request.triage" | "request.verified" | "request.withdrawn">;
  };
  /** Priority among waiting requests */
  priority?: "low" | "normal" | "high";
  /** Any JSON value of up to 32768 bytes; it is returned with the request and in webhooks. With a test key, its member `mock` selects another outcome */
  metadata?: unknown;
};

export type ChangeReviewBody = {
  /** Changes, applied in this order; either all or none */
  changes: Array<{
    kind: "accept";
    /** Id of a measurement, as the reviewed result or the original lists it */
    measurement: string;
  } | {
    kind: "reject";
    /** Id of a measurement, as the reviewed result or the original lists it */
    measurement: string;
    /** Why, in words */
    reason?: string;
  } | {
    kind: "set-value";
    /** Id of a measurement, as the reviewed result or the original lists it */
    measurement: string;
    /** The value, in the unit of the measurement */
    value: number;
  } | {
    kind: "move-calipers";
    /** Id of a measurement, as the reviewed result or the original lists it */
    measurement: string;
    /** Both ends of a line, or both ends of both axes of an ellipse: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result */
    points: Array<[number, number]>;
  } | {
    kind: "set-outline";
    /** Id of a measurement, as the reviewed result or the original lists it */
    measurement: string;
    /** The outline: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result */
    points: Array<[number, number]>;
  } | {
    kind: "choose-repeat";
    /** Id of a measurement, as the reviewed result or the original lists it */
    measurement: string;
  } | {
    kind: "choose-frame";
    /** Id of a measurement, as the reviewed result or the original lists it */
    measurement: string;
    /** Frame of the clip, from 1 */
    frame: number;
    /** Both ends of a line, or both ends of both axes of an ellipse: pixel-centre coordinates of the stored frame, [x, y], as in the calipers of a result */
    points?: Array<[number, number]>;
  } | {
    kind: "name-view";
    /** File of the request */
    file: string;
    /** Name of the view */
    view: string;
  } | {
    kind: "name-plane";
    /** File of the request */
    file: string;
    /** Frame of the clip, from 1 */
    frame: number;
    /** Name of the plane */
    plane: string;
  } | {
    kind: "note";
    /** The line */
    text: string;
  } | {
    kind: "undo";
    /** Number of the change to take back */
    change: number;
  }>;
  /** True to change a signed result, which must then be signed again as amended */
  amend?: boolean;
};

export type SignResultBody = {
  /** Statement that the person makes with the signature */
  statement?: string;
};

export type WithdrawResultBody = {
  /** Why the result is withdrawn */
  reason: "wrong-patient" | "wrong-study" | "wrong-order" | "wrong-measurement" | "quality";
  /** Explanation for the receivers, without names, identifiers and dates */
  text?: string;
};

export type CreateUploadBody = {
  /** Name of the file, without a folder */
  filename: string;
  /** Size */
  bytes: number;
  /** Media type */
  media_type: string;
};

export type CompleteUploadBody = {
  /** SHA-256 of the whole file, to be verified */
  sha256?: string;
  /** The uploaded parts, to be verified */
  parts?: Array<{
    /** Number of the part */
    part_number: number;
    /** `ETag` returned by the PUT of the part */
    etag: string;
  }>;
};

export type CreateKeyBody = {
  /** Name of the key, chosen by you */
  name: string;
  /** True for a test key, which uses the mock backend */
  test?: boolean;
  /** Scopes of the key; default: `run`, `read` and `uploads` */
  scopes?: Array<"run" | "read" | "uploads" | "store" | "retrieve" | "review" | "sign" | "admin">;
  /** When the key expires; default: never */
  expires_at?: string;
};

export type RotateKeyBody = {
  /** How many hours the old key keeps working */
  overlap_hours?: number;
};

export interface ApiCall {
  method: string;
  path: string;
  query?: Record<string, unknown>;
  body?: unknown;
  /** Whether the call accepts an Idempotency-Key. */
  once?: boolean;
  /** Revision on which the call is based. */
  ifMatch?: string;
}

/** Options of every call. */
export interface CallOptions {
  /** Calls repeated with this key within 24 hours count as one; by default, each has a new key. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** Every call of the API as a method. */
export class Calls {
  readonly #send: <Answer>(call: ApiCall, options: CallOptions) => Promise<Answer>;

  constructor(send: <Answer>(call: ApiCall, options: CallOptions) => Promise<Answer>) {
    this.#send = send;
  }

  /** Submit to Obstetric ultrasound. */
  interpretObstetric(
    given: {
      /** Body of the call */
      body: InterpretObstetricBody;
    },
    options: CallOptions = {},
  ): Promise<Request> {
    return this.#send({ method: 'POST', path: '/v1/run/us/obstetric/interpret', body: given.body, once: true }, options);
  }

  /** Submit to Echocardiography. */
  interpretEcho(
    given: {
      /** Body of the call */
      body: InterpretEchoBody;
    },
    options: CallOptions = {},
  ): Promise<Request> {
    return this.#send({ method: 'POST', path: '/v1/run/us/echo/interpret', body: given.body, once: true }, options);
  }

  /** The account's requests, newest first. */
  listRequests(
    given: {
      /** Only requests to this model or endpoint */
      model?: string;
      /** Only requests with this status; may be repeated */
      status?: "queued" | "preparing" | "running" | "succeeded" | "failed" | "canceled" | "rejected" | "expired" | Array<"queued" | "preparing" | "running" | "succeeded" | "failed" | "canceled" | "rejected" | "expired">;
      /** Only requests made with this key */
      key?: string;
      /** Only requests submitted since this time */
      since?: string;
      /** Maximum number of entries per page */
      limit?: number;
      /** `next_cursor` of the previous page */
      cursor?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<RequestPage> {
    return this.#send({ method: 'GET', path: '/v1/requests', query: { model: given.model, status: given.status, key: given.key, since: given.since, limit: given.limit, cursor: given.cursor } }, options);
  }

  /** Get a request, optionally waiting for its status to change. */
  getRequest(
    given: {
      /** Id of the request */
      id: string;
      /** Maximum number of seconds to wait for a change of status before responding */
      wait?: number;
    },
    options: CallOptions = {},
  ): Promise<Request> {
    return this.#send({ method: 'GET', path: `/v1/requests/${encodeURIComponent(given.id)}`, query: { wait: given.wait } }, options);
  }

  /** Cancel a request. */
  cancelRequest(
    given: {
      /** Id of the request */
      id: string;
    },
    options: CallOptions = {},
  ): Promise<Request> {
    return this.#send({ method: 'POST', path: `/v1/requests/${encodeURIComponent(given.id)}/cancel`, once: true }, options);
  }

  /** List the artifacts of a request. */
  listArtifacts(
    given: {
      /** Id of the request */
      id: string;
    },
    options: CallOptions = {},
  ): Promise<ArtifactList> {
    return this.#send({ method: 'GET', path: `/v1/requests/${encodeURIComponent(given.id)}/artifacts` }, options);
  }

  /** Get the reviewed result, its changes and who has the review open. */
  getReview(
    given: {
      /** Id of the request */
      id: string;
    },
    options: CallOptions = {},
  ): Promise<Review> {
    return this.#send({ method: 'GET', path: `/v1/requests/${encodeURIComponent(given.id)}/review` }, options);
  }

  /** Change a review: accept, reject or edit values, undo changes, add notes. */
  changeReview(
    given: {
      /** Id of the request */
      id: string;
      /** `etag` of the review */
      ifMatch: string;
      /** Body of the call */
      body: ChangeReviewBody;
    },
    options: CallOptions = {},
  ): Promise<Review> {
    return this.#send({ method: 'PATCH', path: `/v1/requests/${encodeURIComponent(given.id)}/review`, body: given.body, ifMatch: given.ifMatch }, options);
  }

  /** Sign the reviewed result in the name of the key. */
  signResult(
    given: {
      /** Id of the request */
      id: string;
      /** `etag` of the review */
      ifMatch: string;
      /** Body of the call */
      body?: SignResultBody;
    },
    options: CallOptions = {},
  ): Promise<Review> {
    return this.#send({ method: 'POST', path: `/v1/requests/${encodeURIComponent(given.id)}/sign`, body: given.body, ifMatch: given.ifMatch }, options);
  }

  /** Withdraw the result here and at every receiver; a second call changes nothing. */
  withdrawResult(
    given: {
      /** Id of the request */
      id: string;
      /** Body of the call */
      body: WithdrawResultBody;
    },
    options: CallOptions = {},
  ): Promise<Request> {
    return this.#send({ method: 'POST', path: `/v1/requests/${encodeURIComponent(given.id)}/withdraw`, body: given.body }, options);
  }

  /** List the endpoints and their versions. */
  listModels(
    options: CallOptions = {},
  ): Promise<ModelList> {
    return this.#send({ method: 'GET', path: '/v1/models' }, options);
  }

  /** Get the versions, prices, limits, sections and models of an endpoint. */
  getModel(
    given: {
      /** First part of the name of an endpoint */
      ns: string;
      /** Second part of the name of an endpoint */
      model: string;
    },
    options: CallOptions = {},
  ): Promise<ModelDetail> {
    return this.#send({ method: 'GET', path: `/v1/models/${encodeURIComponent(given.ns)}/${encodeURIComponent(given.model)}` }, options);
  }

  /** Get the OpenAPI description of one endpoint. */
  describeEndpoint(
    given: {
      /** First part of the name of an endpoint */
      ns: string;
      /** Second part of the name of an endpoint */
      model: string;
      /** Third part of the name of an endpoint */
      endpoint: string;
    },
    options: CallOptions = {},
  ): Promise<unknown> {
    return this.#send({ method: 'GET', path: `/v1/models/${encodeURIComponent(given.ns)}/${encodeURIComponent(given.model)}/${encodeURIComponent(given.endpoint)}/openapi.json` }, options);
  }

  /** Start an upload. */
  createUpload(
    given: {
      /** Body of the call */
      body: CreateUploadBody;
    },
    options: CallOptions = {},
  ): Promise<Upload> {
    return this.#send({ method: 'POST', path: '/v1/uploads', body: given.body, once: true }, options);
  }

  /** Get the state of an upload, with new URLs to resume it. */
  getUpload(
    given: {
      /** Id of the request */
      id: string;
    },
    options: CallOptions = {},
  ): Promise<Upload> {
    return this.#send({ method: 'GET', path: `/v1/uploads/${encodeURIComponent(given.id)}` }, options);
  }

  /** Delete a file, or abort its upload. */
  deleteUpload(
    given: {
      /** Id of the request */
      id: string;
    },
    options: CallOptions = {},
  ): Promise<void> {
    return this.#send({ method: 'DELETE', path: `/v1/uploads/${encodeURIComponent(given.id)}` }, options);
  }

  /** Complete an upload. */
  completeUpload(
    given: {
      /** Id of the request */
      id: string;
      /** Body of the call */
      body?: CompleteUploadBody;
    },
    options: CallOptions = {},
  ): Promise<File> {
    return this.#send({ method: 'POST', path: `/v1/uploads/${encodeURIComponent(given.id)}/complete`, body: given.body, once: true }, options);
  }

  /** List requests and their cost by month and key. */
  getUsage(
    given: {
      /** Only this month (UTC) */
      month?: string;
      /** Only entries for this key */
      key?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<Usage> {
    return this.#send({ method: 'GET', path: '/v1/usage', query: { month: given.month, key: given.key } }, options);
  }

  /** List the keys of the account. */
  listKeys(
    options: CallOptions = {},
  ): Promise<KeyList> {
    return this.#send({ method: 'GET', path: '/v1/keys' }, options);
  }

  /** Create a key. */
  createKey(
    given: {
      /** Body of the call */
      body: CreateKeyBody;
    },
    options: CallOptions = {},
  ): Promise<NewKey> {
    return this.#send({ method: 'POST', path: '/v1/keys', body: given.body, once: true }, options);
  }

  /** Rotate a key; the old one expires after an overlap. */
  rotateKey(
    given: {
      /** Id of the request */
      id: string;
      /** Body of the call */
      body?: RotateKeyBody;
    },
    options: CallOptions = {},
  ): Promise<NewKey> {
    return this.#send({ method: 'POST', path: `/v1/keys/${encodeURIComponent(given.id)}/rotate`, body: given.body, once: true }, options);
  }

  /** Revoke a key. */
  revokeKey(
    given: {
      /** Id of the request */
      id: string;
    },
    options: CallOptions = {},
  ): Promise<Key> {
    return this.#send({ method: 'DELETE', path: `/v1/keys/${encodeURIComponent(given.id)}` }, options);
  }

  /** Get the secret used to sign webhooks. */
  getWebhookSecret(
    options: CallOptions = {},
  ): Promise<WebhookSecret> {
    return this.#send({ method: 'GET', path: '/v1/webhooks/secret' }, options);
  }

  /** Rotate the secret; for 24 hours the old one is also used. */
  rotateWebhookSecret(
    options: CallOptions = {},
  ): Promise<WebhookSecret> {
    return this.#send({ method: 'POST', path: '/v1/webhooks/secret/rotate', once: true }, options);
  }

  /** List the webhook deliveries with their attempts. */
  listWebhookDeliveries(
    given: {
      /** Only deliveries for this request */
      request?: string;
      /** Only deliveries in this state */
      state?: "pending" | "sending" | "delivered" | "dead" | "diverted" | "closed";
      /** Maximum number of entries per page */
      limit?: number;
      /** `next_cursor` of the previous page */
      cursor?: string;
    } = {},
    options: CallOptions = {},
  ): Promise<WebhookDeliveries> {
    return this.#send({ method: 'GET', path: '/v1/webhooks/deliveries', query: { request: given.request, state: given.state, limit: given.limit, cursor: given.cursor } }, options);
  }

  /** Send a webhook again with the same id. */
  redeliverWebhook(
    given: {
      /** Id of the request */
      id: string;
    },
    options: CallOptions = {},
  ): Promise<WebhookDelivery> {
    return this.#send({ method: 'POST', path: `/v1/webhooks/deliveries/${encodeURIComponent(given.id)}/redeliver`, once: true }, options);
  }
}
