import type { NaturalDataset } from 'dcmjs';
import { CODING_SYSTEMS } from '../../concepts/concepts.ts';
import { contentTime } from '../../dicom/dates.ts';
import { MANUFACTURER } from '../../dicom/implementation.ts';
import { STORAGE_CLASS } from '../../dicom/sop-classes.ts';
import type { Subject } from '../../dicom/subject.ts';
import { derivedUid } from '../../dicom/uid.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { fetusPlace } from '../../result/measured.ts';
import {
  commonModules,
  contentDateTime,
  hierarchicalReferences,
  studyUidOf,
  uidOf,
} from '../modules.ts';
import {
  type Code,
  type ContentItem,
  code,
  num,
  pname,
  text,
  uidref,
  walk,
} from './content-item.ts';
import { referencedInstances } from './references.ts';
import { SR } from './vocabulary.ts';

/** SR SOP classes. The same content tree is valid in the first three (`RELATIONSHIPS`). */
const SR_CLASSES = {
  enhanced: STORAGE_CLASS.enhancedSr,
  comprehensive: STORAGE_CLASS.comprehensiveSr,
  comprehensive3d: STORAGE_CLASS.comprehensive3dSr,
  simplifiedAdultEcho: STORAGE_CLASS.simplifiedAdultEchoSr,
} as const;
export type SrClass = keyof typeof SR_CLASSES;

type SrRole = 'sr-tid1500' | 'sr-tid5000' | 'sr-tid5200' | 'sr-tid5300';

interface SrDocument {
  sopClass: SrClass;
  role: SrRole;
  /** Instance Number. Documents of one run share a series, so each needs its own number. */
  number: number;
  tree: ContentItem;
}

/**
 * For each kind of document, the SOP class whose documents have a UID that does not depend on the
 * class (`uidRole`).
 */
const FIRST_CLASS = {
  'sr-tid1500': 'comprehensive3d',
  'sr-tid5000': 'comprehensive',
  'sr-tid5200': 'comprehensive',
  'sr-tid5300': 'simplifiedAdultEcho',
} as const satisfies Record<SrRole, SrClass>;

/**
 * Returns the role from which the UID is derived. The same document in two SOP classes is two
 * objects, which must have different UIDs (PS3.5 9), so the role of every class but the first
 * includes the class.
 */
const uidRole = ({ role, sopClass }: SrDocument): string =>
  FIRST_CLASS[role] === sopClass ? role : `${role} ${sopClass}`;

/**
 * Organisation responsible for the private coding scheme (PS3.3 C.12.1.1.1). It is only written to
 * a document that uses the scheme.
 */
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
 * Returns the Completion Flag. It is `COMPLETE` if every requested section is complete, and
 * `PARTIAL` for a draft with a section that was not fully assessed. A signed document is always
 * `COMPLETE`, because only a complete document can be verified (PS3.3 C.17.2): by signing, a person
 * confirms that nothing is missing.
 */
function completion(result: Result): NaturalDataset {
  const done = ({ status }: { status: string }) =>
    status === 'complete' || status === 'not_requested';
  if (result.sections.every(done)) return { CompletionFlag: 'COMPLETE' };
  if (result.draft) return { CompletionFlag: 'PARTIAL' };
  return {
    CompletionFlag: 'COMPLETE',
    CompletionFlagDescription: 'Signed; names the parts that were not or not fully assessed',
  };
}

/**
 * Returns the order for which the images were acquired, as far as it is known from the image
 * headers or a worklist (PS3.3 C.17.2). The study attributes always come from the images, even if
 * the order contains more of them.
 */
function referencedRequest(subject: Subject): NaturalDataset {
  const { identity, order } = subject;
  const accessionNumber = identity?.AccessionNumber || order?.accessionNumber;
  if (!accessionNumber) return {};
  return {
    ReferencedRequestSequence: [
      {
        StudyInstanceUID: studyUidOf(subject),
        ReferencedStudySequence: [],
        AccessionNumber: accessionNumber,
        PlacerOrderNumberImagingServiceRequest: order?.placerOrderNumber ?? '',
        FillerOrderNumberImagingServiceRequest: '',
        RequestedProcedureID: order?.requestedProcedureId ?? '',
        RequestedProcedureDescription: order?.requestedProcedure ?? '',
        RequestedProcedureCodeSequence: [],
      },
    ],
  };
}

/**
 * Returns the subjects of the documents that this document replaces. A draft replaces the draft of
 * the study's earlier run. A signed document replaces the previous revision; for the first one this
 * is the draft, unless drafts are withheld. The first signed document of a run also replaces the
 * signed document of an earlier run.
 */
function formerSubjects(
  { verification: signed }: Pick<Result, 'verification'>,
  subject: Subject,
): Pick<Subject, 'requestId' | 'identity' | 'signedRevision'>[] {
  const { requestId, identity, supersedes, signedRevision = 0, draftsWithheld = false } = subject;
  if (signedRevision === 0) return supersedes ? [{ requestId: supersedes, identity }] : [];
  const { replaces } = signed ?? {};
  return [
    ...(signedRevision === 1 && draftsWithheld
      ? []
      : [{ requestId, identity, signedRevision: signedRevision - 1 }]),
    ...(replaces
      ? [{ requestId: replaces.request, identity, signedRevision: replaces.revision }]
      : []),
  ];
}

/**
 * Builds the Verifying Observer Sequence with everyone who signed (PS3.3 C.17.2). A draft is
 * unverified.
 */
function verification({ verification: signed }: Result, subject: Subject): NaturalDataset {
  if (!signed) return { VerificationFlag: 'UNVERIFIED', PreliminaryFlag: 'PRELIMINARY' };
  return {
    VerificationFlag: 'VERIFIED',
    PreliminaryFlag: 'FINAL',
    VerifyingObserverSequence: signed.signatures.map(({ observer, organization, at }) => {
      const { date, time } = contentTime(at, subject.identity);
      return {
        // In an LO, `\` separates values (PS3.5 6.2).
        VerifyingOrganization: organization.replaceAll('\\', ' ').slice(0, 64),
        VerificationDateTime: `${date}${time}`,
        VerifyingObserverName: personName(observer),
        VerifyingObserverIdentificationCodeSequence: [],
      };
    }),
  };
}

/**
 * Returns a name as a DICOM PN (PS3.5 6.2.1), without `\` and `=`, which are delimiters in a PN.
 * Which part is the family name is unknown, so a `^` after the whole name marks all of it as the
 * family name. A PN without `^` would have a form that DICOM has retired.
 */
export function personName(name: string): string {
  const plain = name.replaceAll(/[\\=]/g, ' ').trim().slice(0, 63);
  return plain.includes('^') ? plain : `${plain}^`;
}

/**
 * Refers to the documents of the same kind and class that this document replaces (PS3.3 C.17.2). The
 * UIDs of a document are derived from its request and revision.
 */
function predecessors(result: Result, subject: Subject, document: SrDocument): NaturalDataset {
  const instances = formerSubjects(result, subject).map((former) => ({
    sopClassUid: SR_CLASSES[document.sopClass],
    sopInstanceUid: uidOf(former, uidRole(document)),
    seriesInstanceUid: uidOf(former, 'series-sr'),
  }));
  if (instances.length === 0) return {};
  return { PredecessorDocumentsSequence: hierarchicalReferences(studyUidOf(subject), instances) };
}

/**
 * Returns Current Requested Procedure Evidence, which lists exactly the objects that the tree
 * references (PS3.3 C.17.2).
 */
export function evidenceOf(tree: ContentItem, subject: Subject): NaturalDataset {
  const sources = hierarchicalReferences(studyUidOf(subject), referencedInstances(tree, subject));
  return sources.length > 0 ? { CurrentRequestedProcedureEvidenceSequence: sources } : {};
}

/** Builds all modules of an SR document except the content (PS3.3 A.35, exchange 2.2). */
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
    ...completion(result),
    ...verification(result, subject),
    ...contentDateTime(result, subject),
    PerformedProcedureCodeSequence: [],
    ...predecessors(result, subject, document),
    ...evidenceOf(document.tree, subject),
    ...referencedRequest(subject),
  };
}

/** Builds all modules of a Key Object Selection except the content (PS3.3 A.35.4). */
export function keyObjectHeader(
  result: Result,
  subject: Subject,
  kind: Omit<Parameters<typeof commonModules>[2], 'sopClassUid' | 'number'>,
): NaturalDataset {
  return {
    ...commonModules(result, subject, {
      ...kind,
      sopClassUid: STORAGE_CLASS.keyObjects,
      number: 1,
    }),
    ReferencedPerformedProcedureStepSequence: [],
    ...contentDateTime(result, subject),
    ...referencedRequest(subject),
  };
}

/** Returns the device UID, which is the same for all results of one pipeline version (TID 1004). */
function deviceUid(result: Result): string {
  return derivedUid('device', result.endpoint, result.version);
}

/** Returns the language of the document (TID 1204). */
export function languageItem(): ContentItem {
  return code('HAS CONCEPT MOD', SR.language, SR.english);
}

/**
 * Returns the observation context (TID 1001, 1002, 1004). The observer is a device, because the
 * result was not made by a person. In a signed document with a value that a person edited or
 * entered, everyone who signed is an observer too (TID 1003).
 */
export function observerItems(result: Result): ContentItem[] {
  const changed = result.measurements.some(
    ({ confirmed }) => confirmed === 'edited' || confirmed === 'entered',
  );
  const persons = changed ? (result.verification?.signatures ?? []) : [];
  return [
    code('HAS OBS CONTEXT', SR.observerType, SR.device),
    uidref('HAS OBS CONTEXT', SR.deviceUid, deviceUid(result)),
    text('HAS OBS CONTEXT', SR.deviceName, `${MANUFACTURER} ${result.endpoint}`),
    text('HAS OBS CONTEXT', SR.deviceManufacturer, MANUFACTURER),
    text('HAS OBS CONTEXT', SR.deviceModel, result.endpoint),
    text('HAS OBS CONTEXT', SR.deviceSerial, result.version),
    ...persons.flatMap(({ observer, organization }) => [
      code('HAS OBS CONTEXT', SR.observerType, SR.person),
      pname('HAS OBS CONTEXT', SR.personName, personName(observer)),
      text('HAS OBS CONTEXT', SR.personOrganization, organization),
    ]),
  ];
}

const NO_UNIT: Code = { scheme: 'UCUM', code: '1', meaning: 'no units' };

/** Returns the labels of the fetuses in the measurements, in alphabetical order. */
export function fetusesNamed(measurements: readonly Measurement[]): string[] {
  const named = measurements.map(({ fetus }) => fetus).filter((fetus) => fetus !== null);
  return [...new Set(named)].sort();
}

/** Returns the number of fetuses that the labels imply: a fetus B implies a fetus A. */
export const numberOfFetuses = (all: readonly string[]): number =>
  Math.max(all.length, ...all.map((name) => fetusPlace(name) ?? 0));

/**
 * Returns the subject context of a fetus (TID 1008). If there are several fetuses, it includes the
 * number of this one and the total.
 */
export function fetusItems(fetus: string, all: readonly string[]): ContentItem[] {
  const counted = (name: Code, value: number) =>
    num('HAS OBS CONTEXT', name, { value, unit: NO_UNIT });
  const total = numberOfFetuses(all);
  const place = fetusPlace(fetus) ?? all.indexOf(fetus) + 1;
  return [
    code('HAS OBS CONTEXT', SR.subjectClass, SR.fetus),
    text('HAS OBS CONTEXT', SR.subjectId, fetus),
    ...(total > 1 ? [counted(SR.fetusNumber, place), counted(SR.numberOfFetuses, total)] : []),
  ];
}

/**
 * Returns the algorithm identification (TID 4019): the pipeline, its version, and each model with
 * the hash of its weights.
 */
export function algorithmItems(result: Result): ContentItem[] {
  return [
    text('HAS CONCEPT MOD', SR.algorithmName, `${MANUFACTURER} ${result.endpoint}`),
    text('HAS CONCEPT MOD', SR.algorithmVersion, result.version),
    ...result.models.map(({ id, version, sha256 }) =>
      text(
        'HAS CONCEPT MOD',
        SR.algorithmParameters,
        `model=${id};version=${version};sha256=${sha256}`,
      ),
    ),
    code('HAS CONCEPT MOD', SR.algorithmFamily, SR.artificialIntelligence),
  ];
}
