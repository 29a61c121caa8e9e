import { LONGEST_INDICATION } from '../../../../pipelines/contract/job.ts';
import {
  KILOGRAMS,
  METRES,
  type ObservedDate,
  ORDER_LOINC,
  quantityOf,
} from '../../../core/studies/order-observations.ts';
import type { ReceivedOrder } from '../../../core/studies/received-orders.ts';
import { repetitionsOf, type Segment } from '../message.ts';
import { dayOf, effectiveAt, type Header, instantOf, statedText } from './header.ts';
import { birthDateOf, mainPatientId, type PatientIdSettings, sexOf } from './patients.ts';
import { contentError } from './refusal.ts';

/**
 * Order control codes (table 0119): those that create or change an order, and those that withdraw
 * it.
 */
const STATES = new Set(['NW', 'XO', 'SC', 'SN', 'RO', 'PA', 'CH', 'NA', 'HD', 'RL', 'RE']);
const WITHDRAWS = new Set(['CA', 'DC', 'OC', 'OD', 'CR', 'DR', 'RP']);
/** The order control code of a message that reports a new status, which is in ORC-5. */
const STATUS_CHANGED = 'SC';
/** Order statuses (table 0038) of an order that was canceled, discontinued or replaced. */
const WITHDRAWN_STATUSES = new Set(['CA', 'DC', 'RP']);

/** An ORC and the segments up to the next ORC. */
interface Group {
  orc: Segment;
  /** Number of the ORC in the message, from 1. */
  sequence: number;
  segments: Segment[];
}

/**
 * Returns the orders in an ORM^O01, OMI^O23 or OMG^O19.
 * @throws Hl7Refusal
 */
export function ordersIn(
  segments: readonly Segment[],
  header: Header,
  settings: PatientIdSettings,
): ReceivedOrder[] {
  const pid = segments.find(({ name }) => name === 'PID');
  if (!pid) throw contentError(100, { segment: 'PID' }, 'The message has no PID.');
  const identifier = mainPatientId(pid, settings);
  const patient = {
    patientId: identifier.id,
    // For an ID from our own assigning authority, the issuer is left empty, because the images
    // might not state it.
    issuerOfPatientId: identifier.unissued ? '' : identifier.authority,
    birthDate: birthDateOf(pid),
    sex: sexOf(pid),
  };
  const { groups, before } = groupsOf(segments);
  if (groups.length === 0) throw contentError(100, { segment: 'ORC' }, 'The message has no ORC.');
  const common = {
    pv1: segments.find(({ name }) => name === 'PV1'),
    before,
    studyUids: segments.filter(({ name }) => name === 'ZDS').map((zds) => statedText(zds, 1)),
    sex: patient.sex,
    orderedAt: effectiveAt(segments),
  };
  return groups.map((group) => ({ ...orderOf(group, header, common), patient }));
}

function groupsOf(segments: readonly Segment[]): { groups: Group[]; before: Segment[] } {
  const groups: Group[] = [];
  const before: Segment[] = [];
  for (const segment of segments) {
    if (segment.name === 'ORC') {
      groups.push({ orc: segment, sequence: groups.length + 1, segments: [] });
    } else (groups.at(-1)?.segments ?? before).push(segment);
  }
  return { groups, before };
}

interface Common {
  pv1: Segment | undefined;
  before: readonly Segment[];
  studyUids: readonly string[];
  sex: string;
  orderedAt: Date;
}

function orderOf(group: Group, header: Header, common: Common): Omit<ReceivedOrder, 'patient'> {
  const { orc, sequence } = group;
  const control = statedText(orc, 1);
  const isStatusChange = control === STATUS_CHANGED;
  const isWithdrawn =
    WITHDRAWS.has(control) || (isStatusChange && WITHDRAWN_STATUSES.has(statedText(orc, 5)));
  if (!isWithdrawn && !STATES.has(control)) {
    const place = { segment: 'ORC', sequence, field: 1 };
    throw contentError(
      control === '' ? 101 : 103,
      place,
      'The order control code is not understood.',
    );
  }
  const obr = group.segments.find(({ name }) => name === 'OBR');
  const number = (field: number) => {
    const from = statedText(orc, field) === '' ? obr : orc;
    const sender = `${header.sendingApplication}|${header.sendingFacility}`;
    const authority = statedText(from, field, 2) || statedText(from, field, 3) || sender;
    return { number: statedText(from, field), authority };
  };
  const [placer, filler] = [number(2), number(3)];
  if (placer.number === '' && filler.number === '') {
    const place = { segment: 'ORC', sequence, field: 2 };
    throw contentError(101, place, 'An order needs a placer or a filler order number.');
  }
  if (!isWithdrawn && !isStatusChange && !obr)
    throw contentError(100, { segment: 'OBR' }, 'An order has no OBR.');
  const entries = obr ? entriesOf(obr, group, common, placer.number) : [];
  const numbers = [
    ...[placer, filler].flatMap(({ number: own, authority }) => [own, authority]),
    ...entries.flatMap((one) => [one.accessionNumber, one.requestedProcedureId]),
    ...entries.map(({ studyInstanceUid }) => studyInstanceUid),
  ];
  if (numbers.some(({ length }) => length > LONGEST_NUMBER)) {
    const place = { segment: 'ORC', sequence };
    throw contentError(102, place, `A number of the order has over ${LONGEST_NUMBER} characters.`);
  }
  return { placer, filler, withdrawn: isWithdrawn, isStatusChange, entries };
}

/**
 * Maximum length of an order number (EI.1 in version 2.7). Without a maximum, a text could be too
 * long for an index of the database.
 */
const LONGEST_NUMBER = 199;

/** Returns one entry for each IPC in an OMI, or a single entry for an order without IPC. */
function entriesOf(
  obr: Segment,
  { orc, segments }: Group,
  { pv1, before, studyUids, sex, orderedAt }: Common,
  placerOrderNumber: string,
): ReceivedOrder['entries'] {
  const observations = [...before, ...segments].filter(({ name }) => name === 'OBX');
  const procedure = {
    placerOrderNumber,
    requestedProcedure: codedText(obr, 44) || codedText(obr, 4),
    indication: indicationOf(obr, segments),
    referringPhysicianName:
      physicianName(pv1, 8) || physicianName(obr, 16) || physicianName(orc, 12),
    sex,
    pregnancy: {
      menstrual: datesIn(observations, ORDER_LOINC.lastMenstrualDate, orderedAt),
      due: datesIn(observations, ORDER_LOINC.dueDate, orderedAt),
    },
    pregnancyStatus: null,
    patientSizeMetres: quantityIn(observations, ORDER_LOINC.height, METRES),
    patientWeightKilograms: quantityIn(observations, ORDER_LOINC.weight, KILOGRAMS),
  };
  const zds = segments.filter(({ name }) => name === 'ZDS').map((one) => statedText(one, 1));
  // IHE Scheduled Workflow (RAD-4) sends one ZDS after all orders of a study. A single ZDS
  // therefore applies to every order of the message.
  const studyInstanceUid = zds[0] ?? (studyUids.length === 1 ? studyUids[0] : '') ?? '';
  const ipcs = segments.filter(({ name }) => name === 'IPC');
  const written = {
    accessionNumber: statedText(obr, 18),
    requestedProcedureId: statedText(obr, 19),
  };
  if (ipcs.length === 0) return [{ ...procedure, ...written, studyInstanceUid }];
  return ipcs.map((ipc) => ({
    ...procedure,
    accessionNumber: statedText(ipc, 1) || written.accessionNumber,
    requestedProcedureId: statedText(ipc, 2) || written.requestedProcedureId,
    studyInstanceUid: statedText(ipc, 3) || studyInstanceUid,
  }));
}

/** Returns the text of a coded value, otherwise its alternate or original text. */
const codedText = (segment: Segment, field: number): string =>
  statedText(segment, field, 2) || statedText(segment, field, 5) || statedText(segment, field, 9);

/**
 * Returns the Reason for Study or, without one, the relevant clinical information or, without
 * either, the diagnoses.
 */
function indicationOf(obr: Segment, segments: readonly Segment[]): string {
  const reasons = repetitionsOf(obr, 31).map((reason) =>
    (reason[1]?.[0] || reason[0]?.[0] || '').trim(),
  );
  const diagnoses = segments
    .filter(({ name }) => name === 'DG1')
    .map((dg1) => statedText(dg1, 3, 2) || statedText(dg1, 4));
  const found = [reasons, [statedText(obr, 13)], diagnoses]
    .map((texts) => texts.filter((text) => text !== '' && text !== '""').join(', '))
    .find(Boolean);
  return (found ?? '')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, LONGEST_INDICATION)
    .toWellFormed();
}

/** Converts a person (XCN) to PN. */
function physicianName(segment: Segment | undefined, field: number): string {
  const part = (at: number) => statedText(segment, field, at).replaceAll(/[\\^=\p{Cc}]/gu, ' ');
  const [family, given, middle, suffix, prefix] = [2, 3, 4, 5, 6].map(part);
  return [family, given, middle, prefix, suffix].join('^').replace(/\^+$/, '');
}

/** When an observation was made (OBX-14); -Infinity if not stated. */
const observedAt = (obx: Segment): number =>
  instantOf(statedText(obx, 14))?.getTime() ?? Number.NEGATIVE_INFINITY;

/**
 * Returns the observations with a given LOINC code, newest first. Of two at the same time or at none,
 * the later one in the message comes first.
 */
function withCode(observations: readonly Segment[], loinc: string): Segment[] {
  return observations
    .filter((obx) => [1, 4].some((at) => statedText(obx, 3, at) === loinc && isLoinc(obx, at)))
    .filter((obx) => !['D', 'W', 'X'].includes(statedText(obx, 11)))
    .toReversed()
    .toSorted((one, other) => observedAt(other) - observedAt(one));
}

const isLoinc = (obx: Segment, at: number) => ['LN', 'LOINC'].includes(statedText(obx, 3, at + 2));

/**
 * Returns the observed dates with a given code. A date without an observation time (OBX-14) counts
 * as observed when the order was placed.
 */
function datesIn(observations: readonly Segment[], loinc: string, orderedAt: Date): ObservedDate[] {
  return withCode(observations, loinc).flatMap((obx) => {
    const date = dayOf(statedText(obx, 5).replaceAll('-', ''));
    const observed = instantOf(statedText(obx, 14)) ?? orderedAt;
    return date === '' ? [] : [{ date, observedAt: observed.getTime() }];
  });
}

function quantityIn(
  observations: readonly Segment[],
  loinc: string,
  units: Readonly<Record<string, number>>,
): number | null {
  const [newest] = withCode(observations, loinc);
  const written = statedText(newest, 5);
  const value = /^\d+(\.\d+)?$/.test(written) ? Number(written) : undefined;
  return quantityOf({ value, unit: statedText(newest, 6) }, units);
}
