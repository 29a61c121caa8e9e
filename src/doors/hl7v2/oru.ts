import { createHash } from 'node:crypto';
import type { Hl7v2Destination } from '../../../config/schema.ts';
import {
  CONCEPTS,
  type Coding,
  chartEntry,
  conceptEntry,
  methodEntry,
} from '../../../pipelines/concepts/concepts.ts';
import { reportConcept } from '../../../pipelines/concepts/report-concepts.ts';
import { type Withdrawal, withdrawalText } from '../../../pipelines/contract/withdrawal.ts';
import type { DicomIdentity, Subject } from '../../../pipelines/dicom/subject.ts';
import { keyOf, PROPERTIES } from '../../../pipelines/input/cart-sr/vocabulary.ts';
import { isAmendment, type Measurement, type Result } from '../../../pipelines/result/envelope.ts';
import {
  exchanged,
  exchangedMargin,
  withoutAnnotations,
} from '../../../pipelines/result/exchange.ts';
import { conclusionLines } from '../../../pipelines/result/render/conclusion.ts';
import { withSubject } from '../../../pipelines/result/render/obstetric/shared.ts';
import {
  originStatement,
  statedMethod,
  withheldText,
} from '../../../pipelines/result/render/statement.ts';
import { centileText, sentence, withUnit } from '../../../pipelines/result/render/unit-text.ts';
import { countingValues } from '../../../pipelines/result/standing.ts';
import { type CharacterSet, repeated, type Segment, segment, type Value } from './message.ts';

/** The content of a message. The same input produces the same bytes on every retry. */
export interface OruInput {
  result: Result;
  /**
   * The number by which the receiver knows the report (OBR-3). It stays the same when a later result
   * of the study replaces the report.
   */
  fillerOrderNumber: string;
  /**
   * The results at the receiver that `result` replaces, newest first: drafts and previous signed
   * results. Empty if the receiver has none.
   */
  former: readonly Result[];
  subject: Subject & { identity: DicomIdentity };
  pdf: Buffer | null;
  destination: Pick<
    Hl7v2Destination,
    | 'sendingApplication'
    | 'sendingFacility'
    | 'receivingApplication'
    | 'receivingFacility'
    | 'processingId'
    | 'assigningAuthority'
  >;
  /** MSH-10; see `controlIdOf`. */
  controlId: string;
  characterSet: CharacterSet;
}

/**
 * Returns MSH-10, which has at most 20 characters. It is derived from the delivery, so every retry
 * has the same id and a receiver can recognise it.
 */
export function controlIdOf(deliveryId: string): string {
  return createHash('sha256').update(deliveryId).digest('hex').slice(0, 20).toUpperCase();
}

/** Builds an unsolicited observation message (ORU^R01; HL7 2.5.1, chapter 7.3.1). */
export function oruR01(input: OruInput): Segment[] {
  const { result, former, subject, pdf } = input;
  const observations = [
    studyUid(subject),
    conclusion(input),
    ...countingValues(result.measurements).flatMap((one) => measurement(one, input)),
    ...withdrawals(result, former),
    ...(pdf ? [report(pdf, input)] : []),
  ];
  const state = { at: changedAt(result), status: statusOf(result) };
  return [header(input, state), patient(input), order(input, state), ...numbered(observations)];
}

/** The content of a message that withdraws a result. */
export interface WithdrawalInput extends Omit<OruInput, 'former' | 'pdf' | 'destination'> {
  destination: OruInput['destination'] & Pick<Hl7v2Destination, 'pdf'>;
  withdrawal: Withdrawal;
  /** Every revision of the result that the receiver has or may have; `result` is one of them. */
  sent: readonly Result[];
}

/**
 * Builds the message that withdraws a result: every observation that the receiver has or may have,
 * without a value and with the status W, "post original as wrong" (OBX-11, table 0085). OBR-25 has
 * the status C, corrected: table 0123 has no code for a withdrawal, and X would state that the order
 * was cancelled.
 */
export function withdrawalR01(input: WithdrawalInput): Segment[] {
  const { subject, sent, withdrawal, destination } = input;
  const state = { at: withdrawal.at, status: 'C' } as const;
  const wrong = (fields: Observation['fields'], notes: readonly string[] = []): Observation => ({
    fields: { ...fields, 5: '', 11: 'W' },
    notes,
  });
  const why = `Withdrawn by ${withdrawal.by}. ${withdrawalText(withdrawal)}`;
  const values = new Map(sent.flatMap(sentValues).map((m) => [subId(m), m]));
  const observations = [
    wrong(studyUid(subject).fields),
    wrong(conclusion(input).fields, [why]),
    ...[...values.values()].map((m) => wrong({ 2: 'NM', 3: codeOf(m), 4: subId(m) })),
    ...(destination.pdf ? [wrong(report(Buffer.alloc(0), input).fields)] : []),
  ];
  return [header(input, state), patient(input), order(input, state), ...numbered(observations)];
}

/** What a message as a whole states of its result. */
interface MessageState {
  /** When the result was made, signed or withdrawn, ISO 8601. */
  at: string;
  /** Status of the report (OBR-25, table 0123). */
  status: 'P' | 'F' | 'C';
}

/** An OBX and its notes, before they are numbered. */
interface Observation {
  fields: Parameters<typeof segment>[1];
  notes: readonly string[];
}

const numbered = (observations: readonly Observation[]): Segment[] =>
  observations.flatMap(({ fields, notes }, index) => [
    segment('OBX', { 1: String(index + 1), ...fields }),
    ...notes.map((note, at) => segment('NTE', { 1: String(at + 1), 2: 'L', 3: note })),
  ]);

/**
 * Returns the status of the values: preliminary for a draft, final for a signed result, corrected
 * for an amended one (OBX-11, table 0085; table 0123 for OBR-25 uses the same letters).
 */
function statusOf({ verification }: Pick<Result, 'verification'>): 'P' | 'F' | 'C' {
  if (!verification) return 'P';
  return isAmendment(verification) ? 'C' : 'F';
}

/**
 * Returns the people who verified the values by signing the result (OBX-16, XCN); empty for a draft.
 * The second component is the family name: the parts of a signer's name are not known.
 */
const responsible = ({ verification }: Pick<Result, 'verification'>): ReturnType<typeof repeated> =>
  repeated((verification?.signatures ?? []).map(({ observer }) => ['', observer]));

function header(
  {
    destination,
    controlId,
    characterSet,
  }: Pick<OruInput, 'destination' | 'controlId' | 'characterSet'>,
  { at }: MessageState,
): Segment {
  return segment('MSH', {
    3: destination.sendingApplication,
    4: destination.sendingFacility ?? '',
    5: destination.receivingApplication ?? '',
    6: destination.receivingFacility ?? '',
    7: utcTimestamp(at),
    9: ['ORU', 'R01', 'ORU_R01'],
    10: controlId,
    11: destination.processingId,
    12: '2.5.1',
    18: characterSet,
  });
}

function patient({
  subject: { identity },
  destination,
}: Pick<OruInput, 'subject' | 'destination'>): Segment {
  const { IssuerOfPatientIDQualifiers: qualifiers } = identity;
  const namespace = identity.IssuerOfPatientID || (destination.assigningAuthority ?? '');
  const authority = qualifiers
    ? [namespace, qualifiers.UniversalEntityID, qualifiers.UniversalEntityIDType]
    : [namespace];
  return segment('PID', {
    1: '1',
    3: [identity.PatientID, '', '', authority, 'MR'],
    5: repeated(personNames(identity.PatientName)),
    7: identity.PatientBirthDate.replaceAll('.', ''),
    8: identity.PatientSex,
  });
}

/**
 * Name representations (table 4000), in the order of the component groups of a PN (PS3.5 6.2.1).
 */
const REPRESENTATIONS = ['A', 'I', 'P'] as const;

/**
 * Splits a DICOM name into its component groups: alphabetic, ideographic and phonetic. In HL7 the
 * suffix comes before the prefix.
 */
function nameGroups(name: string): { parts: string[]; representation: string }[] {
  return name.split('=').flatMap((group, index) => {
    const [family = '', given = '', middle = '', prefix = '', suffix = ''] = group.split('^');
    const representation = REPRESENTATIONS[index];
    if (group === '' || !representation) return [];
    return [{ parts: [family, given, middle, suffix, prefix], representation }];
  });
}

/** Converts a DICOM name to XPN. Each component group becomes a repetition. */
export const personNames = (name: string): Value[] =>
  nameGroups(name).map(({ parts, representation }) => {
    // XPN.7, the name type, is L for a legal name.
    return [...parts, '', 'L', representation];
  });

/** Converts a DICOM name to XCN. Each component group becomes a repetition. */
const staffNames = (name: string): Value[] =>
  nameGroups(name).map(({ parts, representation }) => {
    // XCN.1 is an identifier, which DICOM does not have; XCN.10 is the name type, and XCN.15 the
    // name representation.
    return ['', ...parts, '', '', '', 'L', '', '', '', '', representation];
  });

/**
 * Builds the OBR: the order and its report. The accession number and requested procedure are in
 * OBR-18 and OBR-19, as in the messages of IHE Scheduled Workflow (RAD TF-2 4.4).
 */
function order(
  {
    result,
    subject,
    fillerOrderNumber,
  }: Pick<OruInput, 'result' | 'subject' | 'fillerOrderNumber'>,
  { at, status }: MessageState,
): Segment {
  const { identity, order: known } = subject;
  const { codings, service } = reportConcept(result.endpoint);
  const signatures = result.verification?.signatures ?? [];
  const referrer = identity.ReferringPhysicianName || known?.referringPhysicianName || '';
  return segment('OBR', {
    1: '1',
    2: known?.placerOrderNumber ?? '',
    3: [fillerOrderNumber, 'SONOGATE'],
    4: coded(codings),
    7: dicomTimestamp(identity.StudyDate, identity.StudyTime, identity.TimezoneOffsetFromUTC),
    16: repeated(staffNames(referrer)),
    18: identity.AccessionNumber || (known?.accessionNumber ?? ''),
    19: known?.requestedProcedureId ?? '',
    22: utcTimestamp(at),
    24: service.code,
    25: status,
    31: subject.indication ? ['', subject.indication] : '',
    // NDL: the first component is the name, whose second subcomponent is the family name.
    32: repeated(signatures.map(({ observer }) => [['', observer]])),
  });
}

/** Returns when the result was created or last signed. */
function changedAt({ verification, generated_at: made }: Result): string {
  return verification?.signatures.at(-1)?.at ?? made;
}

/**
 * Builds the observation that identifies the study, in the form of IHE Simple Image and Numeric
 * Report (RAD-28).
 */
function studyUid({ identity }: OruInput['subject']): Observation {
  return {
    fields: {
      2: 'HD',
      3: ['113014', 'DICOM Study', 'DCM'],
      5: identity.StudyInstanceUID,
      11: 'O',
    },
    notes: [],
  };
}

/**
 * Builds an observation with one sentence in each repetition. The sentences state whether the
 * result is a draft, its conclusions, and what was not assessed.
 */
function conclusion({ result }: Pick<OruInput, 'result'>): Observation {
  return {
    fields: {
      2: 'TX',
      3: ['19005-8', 'Radiology Imaging study [Impression]', 'LN'],
      5: repeated(conclusionLines(result)),
      11: statusOf(result),
      16: responsible(result),
    },
    notes: [],
  };
}

/** Maximum length of OBX-4 (HL7 2.5.1, chapter 7.4.2). A receiver may cut off the rest. */
const LONGEST_SUB_ID = 20;
const DIGEST_LENGTH = 8;

/**
 * Returns OBX-4, which distinguishes values with the same code, such as those of two fetuses or of
 * two sides. If it is too long, its end is replaced by a digest.
 */
function subId({ id, fetus }: Measurement): string {
  const name = fetus === null ? id : `${id}/${fetus}`;
  if (name.length <= LONGEST_SUB_ID) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
  return `${name.slice(0, LONGEST_SUB_ID - DIGEST_LENGTH - 1)}-${digest}`;
}

const codeOf = ({ concept, label }: Measurement): Value =>
  coded(conceptEntry(concept.key)?.codings ?? [], { code: concept.key, meaning: label });

/**
 * Builds the observation for a measurement. A value that a person must confirm is omitted, because
 * receivers would store the number without its reservations; the conclusion states how many such
 * values there are. A withheld value has the status X.
 */
function measurement(m: Measurement, { result, subject }: OruInput): Observation[] {
  if (m.quality === 'review') return [];
  const { identity, dating } = subject;
  const identified = { 2: 'NM', 3: codeOf(m), 4: subId(m) };
  const name = nameNote(m);
  if (m.quality !== 'accepted') {
    const notes = [name, sentence(withheldText(m))].filter((note) => note !== null);
    return [{ fields: { ...identified, 11: 'X' }, notes }];
  }
  const { value, unit } = exchanged(m);
  const ucum = withoutAnnotations(unit);
  const stated = statedMethod(m);
  const { reference } = m;
  const chart = reference && (chartEntry(reference.chart)?.name ?? reference.chart);
  const centile =
    reference?.centile === null || !reference
      ? null
      : `Centile ${centileText(reference.centile)} of ${chart}${dating ? '' : ', without dating'}.`;
  return [
    {
      fields: {
        ...identified,
        5: decimal(value),
        6: ucum ? [ucum, ucum, 'UCUM'] : '',
        7: reference ? range(m, reference) : '',
        8: m.interpretation ?? '',
        11: statusOf(result),
        14: dicomTimestamp(identity.StudyDate, identity.StudyTime, identity.TimezoneOffsetFromUTC),
        16: responsible(result),
        17: stated ? ['', methodEntry(stated)?.text ?? stated] : '',
      },
      notes: [name, originStatement(m), marginNote(m), centile, m.note].filter(
        (note) => note !== null,
      ),
    },
  ];
}

const CODES = Object.values(CONCEPTS).map(({ codings: [first] }) => keyOf(first));

/** Codes that do not say what was measured: of a diameter, or of the PI of every vessel. */
const AMBIGUOUS: ReadonlySet<string> = new Set([
  ...PROPERTIES,
  ...CODES.filter((code, at) => CODES.indexOf(code) !== at),
]);

/**
 * Returns the name of a value with its side and fetus; null if OBX-3 says as much. HL7 2.5.1 has no
 * field for the site (OBX-20 is of 2.7), the code of a Doppler index names no vessel, and OBX-4 may be
 * a digest.
 */
function nameNote(m: Measurement): string | null {
  const [code] = conceptEntry(m.concept.key)?.codings ?? [];
  const isAmbiguous = code !== undefined && AMBIGUOUS.has(keyOf(code));
  const hasSubject = m.laterality !== null || m.fetus !== null;
  return isAmbiguous || hasSubject ? sentence(withSubject(m.label, m)) : null;
}

/** Returns the half width of the 95 % interval in the unit of OBX-6; null if it is not known. */
function marginNote(m: Measurement): string | null {
  const margin = exchangedMargin(m);
  if (margin === null) return null;
  const { value, unit } = margin;
  const shown = unit === 'd' ? `${decimal(value)} days` : withUnit(decimal(value), unit);
  return `95 % interval ± ${shown}.`;
}

/** Formats the limits of a reference range (HL7 2.5.1, chapter 7.4.2.7). */
function range(m: Measurement, { low, high }: NonNullable<Measurement['reference']>): string {
  const shown = (limit: number) => decimal(exchanged(m, limit).value);
  if (low !== null && high !== null) return `${shown(low)}-${shown(high)}`;
  if (low !== null) return `> ${shown(low)}`;
  return high !== null ? `< ${shown(high)}` : '';
}

/** Formats a number without an exponent, which an NM cannot have (HL7 2.5.1, chapter 2.A.47). */
function decimal(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(12).replace(/\.?0+$/, '') : text;
}

/** Returns the measurements of a result for which a message has an observation. */
const sentValues = ({ measurements }: Result): Measurement[] =>
  countingValues(measurements).filter(({ quality }) => quality !== 'review');

/**
 * Withdraws the values of former results that `result` does not have, for example because a person
 * rejected them. Otherwise a receiver would keep them. D deletes a preliminary value, W withdraws a
 * final one.
 */
function withdrawals(result: Result, former: readonly Result[]): Observation[] {
  const settled = new Set(sentValues(result).map(subId));
  return former.flatMap((one) => {
    const status = one.verification ? 'W' : 'D';
    const missing = sentValues(one).filter(
      (m) => m.quality === 'accepted' && !settled.has(subId(m)),
    );
    for (const m of missing) settled.add(subId(m));
    return missing.map((m) => ({
      fields: { 2: 'NM', 3: codeOf(m), 4: subId(m), 11: status },
      notes: [],
    }));
  });
}

function report(pdf: Buffer, { result }: Pick<OruInput, 'result'>): Observation {
  return {
    fields: {
      2: 'ED',
      3: coded(reportConcept(result.endpoint).codings),
      4: 'pdf',
      5: ['', 'application', 'pdf', 'Base64', pdf.toString('base64')],
      11: statusOf(result),
    },
    notes: [],
  };
}

/**
 * Builds a CE: LOINC first, then a code from one other scheme (table 0396 uses the names LN, DCM
 * and SCT, as PS3.16 does).
 */
function coded(
  codings: readonly Coding[],
  own: { code: string; meaning: string } | null = null,
): Value {
  const loinc = codings.find(({ scheme }) => scheme === 'LN');
  const others = codings.filter((one) => one !== loinc);
  const chosen = [...(loinc ? [loinc] : []), ...others].slice(0, 2);
  if (chosen.length === 0 && own) return [own.code, own.meaning, '99USINT'];
  return chosen.flatMap(({ code, meaning, scheme }) => [code, meaning, scheme]);
}

/** Formats an instant as a TS in UTC. */
export function utcTimestamp(instant: string): string {
  return `${instant.slice(0, 19).replace(/[-:T]/g, '')}+0000`;
}

/**
 * Converts a date (DA) and time (TM) to a TS; '' without a date. The offset comes from the DICOM
 * header.
 */
export function dicomTimestamp(date: string, time: string, offset: string): string {
  const day = /^\d{8}$/.exec(date.replaceAll('.', ''))?.[0];
  if (!day) return '';
  const clock = /^(\d{2}(?:\d{2}(?:\d{2})?)?)/.exec(time.replaceAll(':', ''))?.[1] ?? '';
  // A TS with hours must also have minutes.
  const minutes = clock.length === 2 ? `${clock}00` : clock;
  return day + minutes + (minutes && /^[+-]\d{4}$/.test(offset) ? offset : '');
}
