import { contextFromHeaders, fieldsOf, type HeaderContext } from './clinical-context.ts';
import type { InstanceHeader } from './instance-header.ts';

/**
 * What an order states about an examination and its patient; '' or null for values that the order
 * does not contain.
 */
export interface Order {
  accessionNumber: string;
  placerOrderNumber: string;
  requestedProcedureId: string;
  requestedProcedure: string;
  indication: string;
  referringPhysicianName: string;
  /** (0010,0040) */
  sex: string;
  /** (0010,21D0), YYYYMMDD. */
  lastMenstrualDate: string;
  /** (0010,21C0); 1 is "not pregnant" (PS3.3 C.2.3.1.1). */
  pregnancyStatus: number | null;
  patientSizeMetres: number | null;
  patientWeightKilograms: number | null;
}

const NOT_PREGNANT = 1;

/** The values that a result can take from the order, with their names in notes and reports. */
const ORDER_VALUES = {
  accessionNumber: 'accession number',
  referringPhysicianName: 'referring physician',
  requestedProcedure: 'requested procedure',
  indication: 'indication',
  dating: 'last menstrual date',
  sex: 'sex',
  height_cm: 'height',
  weight_kg: 'weight',
} as const;
type OrderValue = keyof typeof ORDER_VALUES;

/**
 * The known values of a study: from its own headers or, where these lack a value, from its order.
 */
interface StudyContext extends HeaderContext {
  accessionNumber: string | null;
  referringPhysicianName: string | null;
  requestedProcedure: string | null;
  indication: string | null;
  fromOrder: OrderValue[];
}

type Stated = Omit<StudyContext, 'fromOrder'>;

/**
 * Joins the order to a study. The study's own values are never replaced, because an order is older
 * than the images.
 */
export function studyContext(
  headers: readonly InstanceHeader[],
  order: Order | null,
): StudyContext {
  const own = statedBy(headers);
  if (!order) return { ...own, fromOrder: [] };
  const ordered = statedInOrder(order, headers);
  const fromOrder = (Object.keys(ORDER_VALUES) as OrderValue[]).filter(
    (key) => own[key] === null && ordered[key] !== null,
  );
  const joined = Object.fromEntries(fromOrder.map((key) => [key, ordered[key]]));
  return { ...own, ...joined, fromOrder };
}

function statedBy(headers: readonly InstanceHeader[]): Stated {
  const first = (read: (header: InstanceHeader) => string | undefined) =>
    headers.map((header) => read(header)?.trim()).find(Boolean) ?? null;
  return {
    ...contextFromHeaders(headers),
    accessionNumber: first(({ identity }) => identity.AccessionNumber),
    referringPhysicianName: first(({ identity }) => identity.ReferringPhysicianName),
    requestedProcedure: null,
    indication: first(({ indication }) => indication),
  };
}

function statedInOrder(order: Order, headers: readonly InstanceHeader[]): Stated {
  const { lastMenstrualDate, pregnancyStatus, sex: PatientSex } = order;
  const { patientSizeMetres, patientWeightKilograms } = order;
  // The headers are kept for their study date, on which a gestational age depends.
  const asHeaders = headers.map((header) => ({
    ...header,
    identity: { ...header.identity, PatientSex },
    lastMenstrualDate: pregnancyStatus === NOT_PREGNANT ? '' : lastMenstrualDate,
    statedAgeDays: null,
    patientSizeMetres,
    patientWeightKilograms,
  }));
  return {
    ...contextFromHeaders(asHeaders),
    accessionNumber: order.accessionNumber || null,
    referringPhysicianName: order.referringPhysicianName || null,
    requestedProcedure: order.requestedProcedure || null,
    indication: order.indication || null,
  };
}

/** Returns true if an order could supply a value that the study lacks for these endpoints. */
export function lacksOrder(
  headers: readonly InstanceHeader[],
  endpoints: readonly string[],
): boolean {
  const stated = statedBy(headers);
  const wanted = endpoints.flatMap(fieldsOf).filter((field) => field !== 'age_years');
  return (['accessionNumber', 'referringPhysicianName', 'indication', ...wanted] as const).some(
    (key) => stated[key] === null,
  );
}

/**
 * Describes the result of an order search as text for a person, listing the values taken from the
 * order.
 */
export function orderNote(detail: string, { fromOrder }: Pick<StudyContext, 'fromOrder'>): string {
  if (fromOrder.length === 0) return detail;
  return `${detail} From the order: ${fromOrder.map((value) => ORDER_VALUES[value]).join(', ')}.`;
}
