import { CONCEPTS, type ConceptKey, conceptKey, type MethodKey } from '../../concepts/concepts.ts';
import type { CartCode, CartMeasurement } from '../../contract/study.ts';
import { convert, keyOf } from '../../input/cart-sr/vocabulary.ts';
import type { Measurement } from '../../result/envelope.ts';
import { decided } from '../../result/measured.ts';
import type { PerformanceMethod } from '../rv-function/guideline.ts';

/** Image modes (CID 12224). */
const TWO_DIMENSIONAL = 'SCT|399064001';
const M_MODE = 'SCT|399155008';

/** Method of discs in a single plane (CID 12227). */
const PLANE_DISCS = 'DCM|125208';

/** Views from which the LV is measured (CID 12226). */
const A4C = 'SCT|399214001';
const A2C = 'SCT|399232001';

/**
 * Ranks the methods that a report may state for a value. The method with the lowest rank is
 * preferred (CID 12227; echo 4.2, 5.2).
 */
const STATED: Readonly<
  Partial<Record<string, Readonly<Record<string, { rank: number; method: MethodKey }>>>>
> = {
  lvef: {
    'DCM|125204': { rank: 0, method: 'cart-area-length-biplane' },
    'DCM|125205': { rank: 1, method: 'cart-area-length' },
    [PLANE_DISCS]: { rank: 1, method: 'cart-discs' },
    'DCM|125206': { rank: 4, method: 'cart-cube' },
  },
  // The linear (cube) formula is preferred, because the partition values and the LV geometry are
  // defined for it.
  'lv-mass': {
    'DCM|125222': { rank: 4, method: 'cart-mass-2d' },
    'DCM|125270': { rank: 4, method: 'cart-mass-2d' },
  },
  'lv-mass-index': {
    'DCM|125222': { rank: 4, method: 'cart-mass-2d' },
    'DCM|125270': { rank: 4, method: 'cart-mass-2d' },
  },
};
/**
 * Rank of a value with a method that is not listed in `STATED`, and rank of a value without a
 * method.
 */
const OTHER_STATED = 2;
const NOT_STATED = 3;

/**
 * Method codes for LV mass divided by height. In a report, this quantity has the same name as LV
 * mass.
 */
const BY_HEIGHT: ReadonlySet<string> = new Set(['DCM|125271', 'DCM|125272', 'DCM|125273']);

/**
 * "Directly measured" (125316, DCM). When methods are compared and shown, it counts as no method,
 * because it does not state how the value was measured.
 */
const DIRECT = 'DCM|125316';

/** Returns the code of the stated method; null if it does not state how the value was measured. */
function methodOf({ method }: Pick<CartMeasurement, 'method'>): string | null {
  const code = method && keyOf(method);
  return code === DIRECT ? null : code;
}

const isMassByHeight = ({ method }: CartMeasurement) =>
  method !== null && BY_HEIGHT.has(keyOf(method));

function modeOf({ key, concept, imageMode }: CartMeasurement): string | null {
  if (!IN_BOTH_MODES.has(key)) return null;
  return ALSO[keyOf(concept)]?.mode ?? (imageMode && keyOf(imageMode));
}

function rankOf(value: CartMeasurement): number {
  const { key } = value;
  const method = methodOf(value);
  const listed = key && method ? STATED[key]?.[method]?.rank : undefined;
  const ofMethod = listed ?? (method ? OTHER_STATED : NOT_STATED);
  const mode = modeOf(value);
  const ofMode = mode === TWO_DIMENSIONAL ? 0 : mode === M_MODE ? 2 : 1;
  return 10 * (key !== null && STATED[key] ? ofMethod : 0) + ofMode;
}

function groupOf(value: CartMeasurement): string {
  return `${methodOf(value) ?? ''} ${modeOf(value) ?? ''}`;
}

/**
 * Selects values of a single method and mode for each quantity, so that no median mixes methods
 * (echo 19, rule 2). If the operator selected a value, its method is used, otherwise the preferred
 * method.
 */
function ofPreferredMethods(values: readonly CartMeasurement[]): CartMeasurement[] {
  const standing = new Map<string, CartMeasurement>();
  const precedes = (one: CartMeasurement, other: CartMeasurement) => {
    const [chosen, before] = [one.selection === 'user', other.selection === 'user'];
    return chosen === before ? rankOf(one) < rankOf(other) : chosen;
  };
  for (const value of values) {
    const known = value.key && standing.get(value.key);
    if (value.key && (!known || precedes(value, known))) standing.set(value.key, value);
  }
  return values.filter((value) => {
    const known = value.key && standing.get(value.key);
    return !known || groupOf(known) === groupOf(value);
  });
}

/**
 * Sets the method of a machine value to the method stated in the machine's report, but only if that
 * method limits how the value can be used.
 */
export function withStatedMethod(
  measurement: Measurement,
  cart: readonly CartMeasurement[],
): Measurement {
  const key = measurement.concept.key as ConceptKey;
  const methods = STATED[key];
  const value = cart.find((one) => one.key === key);
  const stated = value ? methodOf(value) : null;
  if (!methods || !stated) return measurement;
  const method = methods[stated]?.method ?? (key === 'lvef' ? 'cart-stated' : null);
  // The result shows the value with its stated method, and a person's decision refers to that
  // value. The decision is therefore applied after the method was set.
  return method ? decided({ ...measurement, method }) : measurement;
}

/**
 * Further codes for concepts of the concept table: codes of CID 12300, each with the image mode that
 * its meaning includes, and codes of TID 5200 (echo 18.4).
 */
const ALSO: Readonly<Record<string, { key: ConceptKey; mode?: string }>> = {
  'LN|18049-7': { key: 'lvef-teichholz', mode: M_MODE },
  'LN|77891-0': { key: 'lvef-teichholz', mode: TWO_DIMENSIONAL },
  'LN|79969-2': { key: 'ivsd', mode: TWO_DIMENSIONAL },
  'LN|79968-4': { key: 'ivsd', mode: M_MODE },
  'LN|80007-8': { key: 'lvidd', mode: TWO_DIMENSIONAL },
  'LN|80008-6': { key: 'lvidd', mode: M_MODE },
  'LN|80011-0': { key: 'lvids', mode: TWO_DIMENSIONAL },
  'LN|80012-8': { key: 'lvids', mode: M_MODE },
  'LN|80031-8': { key: 'lvpwd', mode: TWO_DIMENSIONAL },
  'LN|80032-6': { key: 'lvpwd', mode: M_MODE },
  'LN|80019-3': { key: 'lv-mass', mode: TWO_DIMENSIONAL },
  'LN|80022-7': { key: 'lv-mass', mode: M_MODE },
  'LN|80020-1': { key: 'lv-mass-index', mode: TWO_DIMENSIONAL },
  'LN|80023-5': { key: 'lv-mass-index', mode: M_MODE },
  'LN|29434-8': { key: 'fractional-shortening', mode: TWO_DIMENSIONAL },
  'LN|29435-5': { key: 'fractional-shortening', mode: M_MODE },
  'LN|79975-9': { key: 'la-diameter', mode: TWO_DIMENSIONAL },
  'LN|79977-5': { key: 'la-diameter', mode: M_MODE },
  'LN|17977-0': { key: 'la-area-4c' },
  'LN|17988-7': { key: 'ra-area' },
  'LN|18153-7': { key: 'rv-wall' },
  'LN|18037-2': { key: 'mitral-e' },
  'LN|17978-8': { key: 'mitral-a' },
  'LN|29450-4': { key: 'pulmonary-vein-s' },
  'LN|29451-2': { key: 'pulmonary-vein-d' },
  'LN|18006-7': { key: 'ivc-diameter' },
  'LN|18020-8': { key: 'pa-diameter' },
  'LN|18015-8': { key: 'aortic-root' },
  'SCT|399354002': { key: 'deceleration-time' },
  'SCT|399154007': { key: 'rimp' },
};

/**
 * Quantities that can be measured both in 2D and in M-mode. The 2D value is preferred (echo 5.1,
 * 6).
 */
const IN_BOTH_MODES: ReadonlySet<string | null> = new Set(
  Object.values(ALSO).flatMap(({ key, mode }) => (mode ? [key] : [])),
);

const VALVES = {
  aortic: 'SCT|34202007',
  mitral: 'SCT|91134007',
  tricuspid: 'SCT|46030003',
  pulmonic: 'SCT|39057004',
  outflow: 'SCT|13418002',
} as const;

const PEAK = ['LN|11726-7', 'LN|20355-4'];
const FORWARD = 'SCT|263677008';
/** Codes for regurgitant flow and retrograde flow (CID 12221, CID 12306). */
const BACKWARD = new Set(['SCT|397417004', 'SCT|312004007']);

interface Property {
  codes: readonly string[];
  site: string;
  /**
   * Required direction of flow; any if absent. A general property code used for a valve may be
   * ambiguous without it.
   */
  flow?: 'forward' | 'backward';
  /**
   * Methods with which a value matches this concept (CID 12227). Null in the list matches a value
   * without a method. If the list is absent, every method matches.
   */
  methods?: readonly (string | null)[];
  key: ConceptKey;
}

const ORIFICE = ['SCT|399367004'];
const REGURGITANT_SHARE = ['SCT|399301000'];
/** E over e', by LOINC and by SNOMED CT (CID 12222, CID 12203). */
const EARLY_RATIO = ['LN|59111-5', 'SCT|399140004'];
const METHODS = {
  halfTime: 'DCM|125210',
  peakVelocity: 'DCM|125214',
  velocityIntegral: 'DCM|125215',
  planimetry: 'DCM|125220',
} as const;

/** Concept for each general property in TID 5203, by site and direction of flow. */
const PROPERTIES: readonly Property[] = [
  { codes: PEAK, site: VALVES.aortic, flow: 'forward', key: 'av-vmax' },
  { codes: ['LN|20256-4'], site: VALVES.aortic, flow: 'forward', key: 'av-mean-gradient' },
  { codes: ['LN|20354-7'], site: VALVES.aortic, flow: 'forward', key: 'av-vti' },
  { codes: ['LN|20280-4'], site: VALVES.aortic, flow: 'backward', key: 'ar-half-time' },
  { codes: PEAK, site: VALVES.outflow, key: 'lvot-vmax' },
  { codes: ['LN|20354-7'], site: VALVES.outflow, key: 'lvot-vti' },
  { codes: ['SCT|399027007', 'SCT|81827009'], site: VALVES.outflow, key: 'lvot-diameter' },
  { codes: ['LN|20256-4'], site: VALVES.mitral, flow: 'forward', key: 'mv-mean-gradient' },
  { codes: ['LN|20280-4'], site: VALVES.mitral, flow: 'forward', key: 'mv-half-time' },
  {
    codes: ORIFICE,
    site: VALVES.aortic,
    flow: 'forward',
    methods: [METHODS.velocityIntegral, null],
    key: 'av-area',
  },
  {
    codes: ORIFICE,
    site: VALVES.aortic,
    flow: 'forward',
    methods: [METHODS.peakVelocity],
    key: 'av-area-vmax',
  },
  { codes: ORIFICE, site: VALVES.mitral, methods: [METHODS.halfTime], key: 'mv-area-half-time' },
  {
    codes: ORIFICE,
    site: VALVES.mitral,
    flow: 'forward',
    methods: [METHODS.planimetry],
    key: 'mv-area-planimetry',
  },
  { codes: ORIFICE, site: VALVES.aortic, flow: 'backward', key: 'ar-orifice' },
  { codes: ORIFICE, site: VALVES.mitral, flow: 'backward', key: 'mr-orifice' },
  { codes: REGURGITANT_SHARE, site: VALVES.aortic, key: 'ar-fraction' },
  { codes: REGURGITANT_SHARE, site: VALVES.mitral, key: 'mr-fraction' },
  { codes: PEAK, site: VALVES.tricuspid, flow: 'backward', key: 'tr-vmax' },
  { codes: PEAK, site: VALVES.pulmonic, flow: 'backward', key: 'pr-vmax' },
  { codes: ['LN|20168-1'], site: VALVES.pulmonic, flow: 'forward', key: 'rvot-acceleration' },
  { codes: ['SCT|399133000'], site: 'SCT|399093001', key: 'e-prime-septal' },
  { codes: ['SCT|399133000'], site: 'SCT|399086000', key: 'e-prime-lateral' },
  { codes: ['LN|59080-2'], site: VALVES.mitral, key: 'mitral-e' },
  { codes: ['LN|59081-0'], site: VALVES.mitral, key: 'mitral-a' },
  { codes: ['LN|59104-0'], site: VALVES.mitral, key: 'e-to-a' },
  { codes: ['LN|20217-6'], site: VALVES.mitral, key: 'deceleration-time' },
  { codes: EARLY_RATIO, site: 'SCT|399093001', key: 'e-to-e-prime-septal' },
  { codes: EARLY_RATIO, site: 'SCT|399086000', key: 'e-to-e-prime-lateral' },
];

const codeOf = (code: CartCode | null) => (code ? keyOf(code) : null);

function flows({ flow }: Property, { flowDirection }: CartMeasurement): boolean {
  const direction = codeOf(flowDirection);
  if (!flow) return true;
  return flow === 'backward'
    ? direction !== null && BACKWARD.has(direction)
    : direction === FORWARD;
}

/**
 * The methods of CID 12227 that are biplane discs: biplane method of disks and modified Simpson.
 */
const BIPLANE: ReadonlySet<string | null> = new Set(['DCM|125207', 'DCM|125227']);

function volumetric({ method, imageView }: CartMeasurement, code: string): ConceptKey | null {
  const biplane = BIPLANE.has(codeOf(method));
  if (code === 'LN|18026-5') return biplane ? 'lvedv-biplane' : null;
  if (code === 'LN|18148-7') return biplane ? 'lvesv-biplane' : null;
  if (code !== 'LN|18043-0') return null;
  if (biplane) return 'lvef-biplane';
  if (codeOf(method) === 'DCM|125209') return 'lvef-teichholz';
  const view = codeOf(method) === PLANE_DISCS ? codeOf(imageView) : null;
  return view === A4C ? 'lvef-4c' : view === A2C ? 'lvef-2c' : 'lvef';
}

/** Respiratory cycle point (CID 12234). */
const INSPIRATION = 'SCT|14910006';

/**
 * Returns true if an IVC diameter is the smallest: the machine derived it as the minimum, or
 * measured it in inspiration. Collapse is calculated from the largest and the smallest diameter
 * (echo 12.1, 12.2).
 */
function isLeast({ derivation, respiration }: CartMeasurement): boolean {
  if (derivation === 'minimum' || derivation === 'maximum') return derivation === 'minimum';
  return codeOf(respiration) === INSPIRATION;
}

/**
 * Returns the concept for an LA volume in TID 5200. The method is area-length unless the report
 * states another (echo 18.4).
 */
function atrial({ method, imageView }: CartMeasurement): ConceptKey | null {
  const by = codeOf(method);
  if (by === null || by === 'DCM|125204') return 'la-volume-area-length';
  if (BIPLANE.has(by)) return 'la-volume-biplane';
  const view = codeOf(imageView);
  if (by !== PLANE_DISCS) return null;
  return view === A4C ? 'la-volume-4c' : view === A2C ? 'la-volume-2c' : null;
}

function keyFor(value: CartMeasurement): ConceptKey | null {
  const code = keyOf(value.concept);
  if (code === 'SCT|399235004') return atrial(value);
  const meant = volumetric(value, code) ?? conceptKey(value.key) ?? ALSO[code]?.key ?? null;
  if (meant === 'ivc-diameter' && isLeast(value)) return 'ivc-least-diameter';
  if (meant === 'lv-mass' && isMassByHeight(value)) return null;
  if (meant) return meant;
  const site = codeOf(value.site);
  const property = PROPERTIES.find(
    (one) =>
      one.codes.includes(code) &&
      one.site === site &&
      flows(one, value) &&
      (one.methods?.includes(codeOf(value.method)) ?? true),
  );
  return property?.key ?? null;
}

const END_SYSTOLE = 'SCT|416430001';

/** Stages of a stress test that count as rest: baseline and resting state (CID 12002). */
const AT_REST: ReadonlySet<string> = new Set(['SCT|128974000', 'SCT|128975004']);

/**
 * Converts the machine's values to the keys and units of the echo concept table, and selects the
 * values of the preferred method for each quantity. Values measured under stress and end-systolic
 * effusion depths are left out. Indexed values, deviations, and values whose unit cannot be
 * converted are not changed. The key of a value that cannot be identified is set to null.
 */
export function echoCartValues(cart: readonly CartMeasurement[]): CartMeasurement[] {
  const named = cart.flatMap((value) => {
    // A value measured under stress is a different quantity (TID 5202, CID 12002).
    if (value.stage && !AT_REST.has(keyOf(value.stage))) return [];
    // An effusion is graded by its depth at end-diastole (echo 13).
    if (value.key === 'effusion-depth' && codeOf(value.phase) === END_SYSTOLE) return [];
    if (value.divisor || value.derivation === 'other') return [value];
    const key = keyFor(value);
    const converted = key && convert(value.value, value.unit, CONCEPTS[key].unit);
    return key && converted !== null
      ? [{ ...value, key, value: converted, unit: CONCEPTS[key].unit }]
      : [{ ...value, key: key && value.key }];
  });
  return ofPreferredMethods(named);
}

/**
 * Kind of Doppler used for RIMP, by image mode (CID 12224). The limit of RIMP depends on it (echo
 * 7.2).
 */
const PERFORMANCE_METHODS: Readonly<Record<string, PerformanceMethod>> = {
  'SCT|261199008': 'pulsed',
  'SCT|439858009': 'tissue',
};

/**
 * Returns the kind of Doppler with which the machine measured RIMP. Null if it is unknown for one
 * of the values, or if both kinds were used.
 */
export function performanceMethod(cart: readonly CartMeasurement[]): PerformanceMethod | null {
  const own = echoCartValues(cart).filter(({ key }) => key === 'rimp');
  const methods = own.map(
    ({ imageMode }) => (imageMode && PERFORMANCE_METHODS[keyOf(imageMode)]) ?? null,
  );
  const [first = null] = methods;
  return methods.every((method) => method === first) ? first : null;
}
