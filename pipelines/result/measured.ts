import type { MeasurementConcept } from '../concepts/coding.ts';
import { conceptOf } from '../concepts/coding.ts';
import type { Point } from '../contract/image.ts';
import type { Clip } from '../contract/study.ts';
import type { Caliper, Measurement } from './envelope.ts';

/** The source of a value that belongs to no single frame. */
export const NO_FRAME: Measurement['source'] = {
  provenance: 'model',
  file: null,
  sop_instance_uid: null,
  frame: null,
  calipers: [],
};

const ORIGIN_OF = {
  model: 'image',
  'image-analysis': 'image',
  'cart-sr': 'machine',
  input: 'request',
} as const satisfies Record<Measurement['source']['provenance'], Measurement['origin']>;

/** Returns whom a value comes from, judged by where it was read. */
export const originOf = ({ provenance }: Measurement['source']): Measurement['origin'] =>
  ORIGIN_OF[provenance];

/** Whether a value was taken from the report of the ultrasound machine. */
export const isOfMachine = ({ source }: Pick<Measurement, 'source'>): boolean =>
  source.provenance === 'cart-sr';

type Source = Measurement['source'];

/**
 * Where a value was measured.
 * @param frame 0-based index, as readers count (a result counts from 1); null where the value
 * belongs to no single frame.
 * @param calipers what was drawn there.
 */
export function measuredOn(
  { file, sopInstanceUid }: Pick<Clip, 'file' | 'sopInstanceUid'>,
  frame: number | null,
  provenance: Source['provenance'],
  calipers: readonly Caliper[] = [],
): Source {
  return {
    provenance,
    file,
    sop_instance_uid: sopInstanceUid,
    frame: frame === null ? null : frame + 1,
    calipers: [...calipers],
  };
}

/** A straight caliper, in pixel coordinates of the frame. */
export function lineBetween(from: Point, to: Point): Caliper {
  return {
    type: 'line',
    points: [
      [from.x, from.y],
      [to.x, to.y],
    ],
  };
}

/** What a measurement may be given beside its concept, value and method. */
export type Given = Partial<
  Omit<Measurement, 'concept' | 'label' | 'unit' | 'method' | 'value' | 'note'>
>;

/** A measurement of a concept, whose entry in the concept table gives its unit, label and site. */
export function measurementOf(
  id: string,
  key: string,
  { codings, label, unit, site }: MeasurementConcept,
  value: number,
  method: string,
  given: Given = {},
): Measurement {
  return {
    id,
    section: 'biometry',
    concept: conceptOf(key, codings[0]),
    label,
    value,
    unit,
    method,
    derivation: 'calculated',
    source: NO_FRAME,
    site: site?.meaning ?? null,
    laterality: null,
    fetus: null,
    phase: null,
    confidence: null,
    uncertainty: null,
    quality: 'accepted',
    reference: null,
    interpretation: null,
    inputs: [],
    origin: originOf(given.source ?? NO_FRAME),
    standing: given.quality && given.quality !== 'accepted' ? 'withheld' : 'counts',
    remarks: [],
    note: null,
    ...given,
  };
}

/** A value beside one that its section chose for the same quantity, such as the shortest cervix. */
export const asRepeat = (one: Measurement): Measurement => ({ ...one, standing: 'repeat' });

/**
 * The position of a fetus among its siblings by its letter or number, counted from 1; null:
 * unknown.
 */
export function fetusPlace(name: string): number | null {
  if (/^[a-d]$/i.test(name)) return name.toUpperCase().charCodeAt(0) - 'A'.charCodeAt(0) + 1;
  return /^[1-9]$/.test(name) ? Number(name) : null;
}

/** The id of a value that belongs to one of several fetuses. */
export const ofFetusId = (id: string, fetus: string): string =>
  `${id}-fetus-${fetus.toLowerCase()}`;

/** The key by which fetuses are compared: A and 1 are the same fetus, named by two people. */
export const fetusKey = (name: string | null): string =>
  name === null ? '' : String(fetusPlace(name) ?? name);

/** The id of a value from the machine's report: `cart-hc`, `cart-uterine-artery-pi-left`. */
export function machineValueId(
  quantity: string,
  { fetus, laterality }: Pick<Measurement, 'fetus' | 'laterality'>,
): string {
  return ['cart', quantity, fetus, laterality].filter(Boolean).join('-');
}
