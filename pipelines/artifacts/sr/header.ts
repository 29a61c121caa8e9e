import type { NaturalDataset } from 'dcmjs';
import { CODING_SYSTEMS } from '../../result/concepts.ts';
import type { Result } from '../../result/envelope.ts';
import {
  commonModules,
  contentDateTime,
  hierarchicalReferences,
  MANUFACTURER,
  studyUidOf,
  uidOf,
} from '../dicom/modules.ts';
import type { Subject } from '../subject.ts';
import { type ContentItem, walk } from './content-item.ts';
import { referencedInstances } from './references.ts';

/** SR SOP classes; ours are by value only, so that one tree fits all of the first three. */
export const SR_CLASSES = {
  enhanced: '1.2.840.10008.5.1.4.1.1.88.22',
  comprehensive: '1.2.840.10008.5.1.4.1.1.88.33',
  comprehensive3d: '1.2.840.10008.5.1.4.1.1.88.34',
  simplifiedAdultEcho: '1.2.840.10008.5.1.4.1.1.88.72',
} as const;
export type SrClass = keyof typeof SR_CLASSES;

export type SrRole = 'sr-tid1500' | 'sr-tid5000' | 'sr-tid5200' | 'sr-tid5300';

export interface SrDocument {
  sopClass: SrClass;
  role: SrRole;
  /** Instance Number: the documents of one run share a series. */
  number: number;
  tree: ContentItem;
}

/** The class in which a document was first designed; in another it is another object. */
const FIRST_CLASS = {
  'sr-tid1500': 'comprehensive3d',
  'sr-tid5000': 'comprehensive',
  'sr-tid5200': 'comprehensive',
  'sr-tid5300': 'simplifiedAdultEcho',
} as const satisfies Record<SrRole, SrClass>;

/** Two forms of a document are two objects, with a UID each (PS3.5 9). */
const uidRole = ({ role, sopClass }: SrDocument): string =>
  FIRST_CLASS[role] === sopClass ? role : `${role} ${sopClass}`;

/** Whose the private scheme is (PS3.3 C.12.1.1.1); only in a document that uses it. */
const OWN_CODES: NaturalDataset[] = [
  {
    CodingSchemeDesignator: '99USINT',
    CodingSchemeName: `Sonogate private codes (${CODING_SYSTEMS['99USINT']})`,
    CodingSchemeResponsibleOrganization: MANUFACTURER,
  },
];

function usesOwnCodes(tree: ContentItem): boolean {
  return walk(tree).some(({ name }) => name?.scheme === '99USINT');
}

/**
 * `COMPLETE` when every section that was asked for is complete; sections that were not assessed or
 * fell short leave the draft `PARTIAL` (PS3.3 C.17.2).
 */
function completion(result: Result): 'COMPLETE' | 'PARTIAL' {
  const done = ({ status }: { status: string }) =>
    status === 'complete' || status === 'not_requested';
  return result.sections.every(done) ? 'COMPLETE' : 'PARTIAL';
}

/** The order the images were made for, as far as their header tells (PS3.3 C.17.2). */
export function referencedRequest(subject: Subject): NaturalDataset {
  const { identity } = subject;
  if (!identity?.AccessionNumber) return {};
  return {
    ReferencedRequestSequence: [
      {
        StudyInstanceUID: studyUidOf(subject),
        ReferencedStudySequence: [],
        AccessionNumber: identity.AccessionNumber,
        PlacerOrderNumberImagingServiceRequest: '',
        FillerOrderNumberImagingServiceRequest: '',
        RequestedProcedureID: '',
        RequestedProcedureDescription: '',
        RequestedProcedureCodeSequence: [],
      },
    ],
  };
}

/**
 * The document of the same kind and class that an earlier run of the study left (PS3.3 C.17.2): its
 * UIDs follow from the request that made it.
 */
function predecessor(subject: Subject, document: SrDocument): NaturalDataset {
  if (!subject.supersedes) return {};
  const former = { requestId: subject.supersedes, identity: subject.identity };
  const instance = {
    sopClassUid: SR_CLASSES[document.sopClass],
    sopInstanceUid: uidOf(former, uidRole(document)),
    seriesInstanceUid: uidOf(former, 'series-sr'),
  };
  return { PredecessorDocumentsSequence: hierarchicalReferences(studyUidOf(subject), [instance]) };
}

/** Current Requested Procedure Evidence: exactly what the tree refers to (PS3.3 C.17.2). */
export function evidenceOf(tree: ContentItem, subject: Subject): NaturalDataset {
  const sources = hierarchicalReferences(studyUidOf(subject), referencedInstances(tree, subject));
  return sources.length > 0 ? { CurrentRequestedProcedureEvidenceSequence: sources } : {};
}

/** All modules of an SR document besides its content (PS3.3 A.35, interop reference 2.2). */
export function srHeader(result: Result, subject: Subject, document: SrDocument): NaturalDataset {
  const kind = {
    sopClassUid: SR_CLASSES[document.sopClass],
    series: 'sr',
    role: uidRole(document),
    number: document.number,
  } as const;
  return {
    ...commonModules(result, subject, kind),
    ...(usesOwnCodes(document.tree) && { CodingSchemeIdentificationSequence: OWN_CODES }),
    ReferencedPerformedProcedureStepSequence: [],
    CompletionFlag: completion(result),
    VerificationFlag: 'UNVERIFIED',
    PreliminaryFlag: 'PRELIMINARY',
    ...contentDateTime(result, subject),
    PerformedProcedureCodeSequence: [],
    ...predecessor(subject, document),
    ...evidenceOf(document.tree, subject),
    ...referencedRequest(subject),
  };
}
