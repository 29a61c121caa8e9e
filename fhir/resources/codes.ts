import type { CodeableConcept, Coding } from '@medplum/fhirtypes';
import {
  CODING_SYSTEMS,
  conceptEntry,
  type Coding as TableCoding,
} from '../../pipelines/concepts/concepts.ts';
import { reportConcept } from '../../pipelines/concepts/report-concepts.ts';
import { isTranslation } from '../../pipelines/contract/translate.ts';
import type { Concept, Measurement, Result } from '../../pipelines/result/envelope.ts';

/**
 * Codes that FHIR needs in addition to those of the measured concepts
 * (pipelines/concepts/concepts.ts): code systems of terminology.hl7.org (R4), and DICOM concepts
 * for the components of an Observation.
 */

const hl7 = (name: string) => `http://terminology.hl7.org/CodeSystem/${name}`;

export const SYSTEMS = {
  ...CODING_SYSTEMS,
  ucum: 'http://unitsofmeasure.org',
  dicomUid: 'urn:dicom:uid',
  uri: 'urn:ietf:rfc:3986',
  identifierType: hl7('v2-0203'),
  diagnosticService: hl7('v2-0074'),
  observationCategory: hl7('observation-category'),
  observationValue: hl7('v3-ObservationValue'),
  interpretation: hl7('v3-ObservationInterpretation'),
  dataAbsentReason: hl7('data-absent-reason'),
  provenanceParticipant: hl7('provenance-participant-type'),
  dataOperation: hl7('v3-DataOperation'),
} as const;

/**
 * "Artificial intelligence asserted": the security label of every resource that contains a
 * statement made by this software.
 */
export const AI_ASSERTED: Coding = { system: SYSTEMS.observationValue, code: 'AIAST' };

export const IMAGING_CATEGORY = codeable(SYSTEMS.observationCategory, 'imaging', 'Imaging');

export const MEDIA_IMAGE = codeable(hl7('media-type'), 'image', 'Image');

/** SNOMED CT type of `Device` for software. */
export const SOFTWARE = codeable(SYSTEMS.SCT, '706689003', 'Application program software');

/** Modalities of the objects of an ultrasound study, in the wording of PS3.16 Annex D. */
const MODALITY_DISPLAY: ReadonlyMap<string, string> = new Map([
  ['US', 'Ultrasound'],
  ['SR', 'Structured Report Document'],
  ['DOC', 'Document'],
  ['SEG', 'Segmentation'],
  ['PR', 'Presentation State'],
]);

/** Converts a Modality (0008,0060) to a FHIR Coding. */
export function modalityCoding(code: string): Coding {
  return { system: SYSTEMS.DCM, code, display: MODALITY_DISPLAY.get(code) };
}

/** Components of a measured Observation (PS3.16 Annex D). */
export const COMPONENT = {
  centile: codeable(SYSTEMS.DCM, '125012', 'Growth Percentile Rank'),
  zScore: codeable(SYSTEMS.DCM, '125013', 'Growth Z-score'),
  fetus: codeable(SYSTEMS.DCM, '121037', 'Fetus Number'),
  confidence: { text: 'Confidence of the model, 0 to 1' },
  uncertainty: { text: 'Half width of the 95 % interval' },
} as const satisfies Record<string, CodeableConcept>;

/**
 * Codes of those sections that have a container in TID 5000 (PS3.16 TID 5005, 5003); other sections
 * have only a title.
 */
export const SECTION_CODES: Readonly<Record<string, Coding>> = {
  biometry: { system: SYSTEMS.DCM, code: '125002', display: 'Fetal Biometry' },
  growth: { system: SYSTEMS.DCM, code: '125008', display: 'Fetus Summary' },
};

interface ReportCodes {
  /** LOINC comes first, because some receivers read only the first coding. */
  code: Coding[];
  title: string;
  /** The v2-0074 diagnostic service section, and the LOINC class that US Core requires. */
  categories: CodeableConcept[];
}

/**
 * Returns the codes for the report of an endpoint (`us/obstetric/interpret` and `us/obstetric`
 * alike).
 */
export function reportCodes({ endpoint, draft }: Pick<Result, 'endpoint' | 'draft'>): ReportCodes {
  const codes = codesOf(endpoint);
  if (!draft) return codes;
  const kind = isTranslation({ endpoint }) ? 'values from the ultrasound machine' : 'AI draft';
  return { ...codes, title: `${codes.title}, ${kind}` };
}

function codesOf(endpoint: string): ReportCodes {
  const { codings, title, service, category } = reportConcept(endpoint);
  return {
    code: codings.map(fromTable),
    title,
    categories: [
      codeable(SYSTEMS.diagnosticService, service.code, service.meaning),
      { coding: [fromTable(category)] },
    ],
  };
}

export function codeable(system: string, code: string, display: string): CodeableConcept {
  return { coding: [{ system, code, display }] };
}

/**
 * The last code of the DICOM scheme in the edition published with FHIR R4 as a complete code
 * system. A validator using R4 terminology rejects every later code as unknown (HAPI 8.4 reports an
 * error, even with `Coding.version`).
 */
const LAST_DCM_CODE_OF_R4 = 126_811;

const isInR4 = ({ system, code }: Coding): boolean =>
  system !== SYSTEMS.DCM || Number(code) <= LAST_DCM_CODE_OF_R4;

export function fromTable(coding: TableCoding): Coding {
  return { system: SYSTEMS[coding.scheme], code: coding.code, display: coding.meaning };
}

/** Converts a concept from the result to a FHIR Coding. */
export function fromConcept(concept: Concept): Coding {
  return { system: concept.system, code: concept.code, display: concept.display };
}

/**
 * Returns the `Observation.code` codings of a measurement: those of its codes that R4 contains, or
 * our own code if there are none.
 */
export function measurementCodings({ concept, label }: Measurement): Coding[] {
  const known = (
    conceptEntry(concept.key)?.codings.map(fromTable) ?? [fromConcept(concept)]
  ).filter(isInR4);
  if (known.length > 0) return known;
  return [{ system: SYSTEMS['99USINT'], code: concept.key, display: label }];
}
