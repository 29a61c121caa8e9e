import type { Relationship, ValueType } from './content-item.ts';

/**
 * One row of a template of PS3.16. `concept` lists "scheme code" of the allowed names: null is any,
 * [] is none (IMAGE rows). Written from the standard and not from our builders or concept table,
 * so that it can find their mistakes.
 */
export interface Row {
  relationship: Relationship;
  type: ValueType;
  concept: readonly string[] | null;
  /** `M`: at least one; `U`: may be absent. */
  need: 'M' | 'U';
  /** Names in whose presence beside it a row of need `M` may be absent. */
  unless?: readonly string[];
  /** At most one where true. */
  once?: boolean;
  /** Finding site that a container has, where several rows have the same name. */
  site?: string;
  /** Allowed codes of a CODE row. */
  values?: readonly string[];
  /** Allowed UCUM units of a NUM row. */
  units?: readonly string[];
  rows?: readonly Row[];
}

export interface Template {
  title: string;
  rows: readonly Row[];
}

export const LENGTHS = ['mm', 'cm'];

export const dcm = (...codes: string[]) => codes.map((code) => `DCM ${code}`);
export const ln = (...codes: string[]) => codes.map((code) => `LN ${code}`);
export const sct = (...codes: string[]) => codes.map((code) => `SCT ${code}`);

/** TID 1204. */
export const LANGUAGE: Row = {
  relationship: 'HAS CONCEPT MOD',
  type: 'CODE',
  concept: dcm('121049'),
  need: 'U',
  once: true,
};

export const context = (
  type: ValueType,
  concept: string,
  need: 'M' | 'U',
  extra: Partial<Row> = {},
): Row => ({ relationship: 'HAS OBS CONTEXT', type, concept: [concept], need, ...extra });

/** TID 1001 with TID 1002 and 1004: what an observer that is a device must say. */
export const OBSERVER: Row[] = [
  context('CODE', 'DCM 121005', 'M', { values: ['DCM 121007'] }),
  context('UIDREF', 'DCM 121012', 'M'),
  context('TEXT', 'DCM 121013', 'U'),
  context('TEXT', 'DCM 121014', 'U'),
  context('TEXT', 'DCM 121015', 'U'),
  context('TEXT', 'DCM 121016', 'U'),
];

/** TID 1006 and 1008. */
export const FETUS: Row[] = [
  context('CODE', 'DCM 121024', 'U', { values: ['DCM 121026'], once: true }),
  context('TEXT', 'DCM 121030', 'U', { once: true }),
  context('NUM', 'DCM 121037', 'U', { once: true, units: ['1'] }),
  context('NUM', 'DCM 121038', 'U', { once: true, units: ['1'] }),
];

export const ON_IMAGE: Row[] = [
  { relationship: 'SELECTED FROM', type: 'IMAGE', concept: [], need: 'M', once: true },
];

export const inferred = (type: ValueType, concept: readonly string[] | null): Row => ({
  relationship: 'INFERRED FROM',
  type,
  concept,
  need: 'U',
});

/** TID 315, CID 228. */
export const EQUATION: Row[] = [
  inferred('CODE', dcm('121420', '121424')),
  inferred('TEXT', dcm('121421', '121422', '121423')),
];

export const property = (type: ValueType, concept: readonly string[]): Row => ({
  relationship: 'HAS PROPERTIES',
  type,
  concept,
  need: 'U',
});

/** Children of a NUM of TID 300; `coordinates` is false in a region group (TID 1419). */
export function measurementRows(coordinates: boolean): Row[] {
  return [
    {
      relationship: 'HAS CONCEPT MOD',
      type: 'CODE',
      concept: dcm('121401'),
      need: 'U',
      once: true,
      values: sct('258104002', '258090004', '373098007', '373099004', '371912002', '414135002'),
    },
    property('NUM', sct('385524004', '371933006', '371884006')),
    property('NUM', dcm('121414', '121415', '121416')),
    property('TEXT', dcm('121407', '121408')),
    ...EQUATION,
    inferred('NUM', null),
    ...(coordinates
      ? [{ ...inferred('SCOORD', dcm('121112')), rows: ON_IMAGE }, inferred('IMAGE', dcm('121112'))]
      : []),
  ];
}

export const contains = (
  type: ValueType,
  concept: readonly string[] | null,
  need: 'M' | 'U',
  extra: Partial<Row> = {},
): Row => ({ relationship: 'CONTAINS', type, concept, need, ...extra });

export const modifier = (type: ValueType, concept: readonly string[], need: 'M' | 'U'): Row => ({
  relationship: 'HAS CONCEPT MOD',
  type,
  concept,
  need,
});
