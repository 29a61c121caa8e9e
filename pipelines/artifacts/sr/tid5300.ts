import { dcm, ln, sct } from '../../concepts/coding.ts';
import { conceptEntry } from '../../concepts/concepts.ts';
import type { Subject } from '../../dicom/subject.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { accepted } from '../../result/render/statement.ts';
import { countingValues } from '../../result/standing.ts';
import {
  type Code,
  type ContentItem,
  code,
  container,
  num,
  root,
  scoord,
  text,
} from './content-item.ts';
import { ECHO_SITES } from './echo-sites.ts';
import { encode } from './encode.ts';
import { languageItem, observerItems, type SrClass, srHeader } from './header.ts';
import { conceptOf, exchange, measuredOn } from './measured-value.ts';
import { SR } from './vocabulary.ts';

/** Measurement types (CID 12303). */
const TYPE = {
  measured: dcm('125316', 'Directly measured'),
  calculated: dcm('125315', 'Calculated'),
  indexed: dcm('125313', 'Indexed'),
  fractional: dcm('125314', 'Fractional Change'),
  ratio: sct('118586006', 'Ratio'),
} as const;

/** Types of finding observation (CID 12302). */
const OBSERVATION = {
  structure: dcm('125311', 'Structure of the finding site'),
  behaviour: dcm('125312', 'Behavior of the finding site'),
  haemodynamic: sct('44324008', 'Hemodynamic Measurements'),
} as const;

/** Measured properties (CID 12304). */
const PROPERTY = {
  thickness: ln('59089-3', 'Thickness'),
  internalDimension: ln('59090-1', 'Internal Dimension'),
  diameter: sct('81827009', 'Diameter'),
  fractionalShortening: ln('59132-1', 'Fractional Shortening'),
  mass: sct('118538004', 'Mass'),
  ejectionFraction: sct('70822001', 'Cardiac Ejection Fraction'),
  strokeVolume: sct('90096001', 'Stroke Volume'),
  peakPressure: dcm('125329', 'Peak Blood Pressure'),
  meanPressure: sct('6797001', 'Mean Blood Pressure'),
  peakVelocity: ln('20355-4', 'Peak Blood Velocity'),
  tissueVelocity: dcm('125330', 'Peak Tissue Velocity'),
  velocityIntegral: ln('20354-7', 'Velocity Time Integral'),
  excursion: dcm('125327', 'Excursion Distance'),
} as const;

/** Phases of the cardiac cycle (CID 12307). */
const PHASE = {
  endDiastole: sct('416190007', 'End diastole'),
  endSystole: sct('416430001', 'End systole'),
  systole: sct('111973004', 'Systole'),
  earlyFilling: sct('444392003', 'Diastolic Rapid Inflow, E-wave'),
} as const;

const SITE = {
  ...ECHO_SITES,
  septum: sct('589001', 'Interventricular septum'),
  myocardium: sct('49848007', 'Left Ventricle Myocardium'),
  outflowTract: sct('13418002', 'Left ventricle outflow tract'),
  tricuspidAnnulus: sct('113259005', 'Tricuspid annulus'),
  effusion: sct('373945007', 'Pericardial effusion'),
} as const;

/** Divisor of an index or ratio, as a code that receivers know. */
const DIVISOR = {
  bodySurface: SR.bodySurfaceArea,
  tissueVelocity: PROPERTY.tissueVelocity,
  septalVelocity: ln('79911-4', 'Mitral septal e-prime Vmax'),
  lateralVelocity: ln('80054-0', 'Mitral lateral e-prime Vmax'),
  aorticIntegral: ln('79965-0', 'Aortic valve VTI'),
  systolicPressure: sct('399023006', 'Right Ventricular Peak Systolic Pressure'),
  leftDiameter: ln('29436-3', 'Left Ventricle Internal End Diastolic Dimension'),
} as const satisfies Record<string, Code>;

interface Modifiers {
  type: keyof typeof TYPE;
  site: keyof typeof SITE;
  observation: keyof typeof OBSERVATION;
  property: keyof typeof PROPERTY;
  phase?: keyof typeof PHASE;
  divisor?: keyof typeof DIVISOR;
}

const by =
  (observation: Modifiers['observation']) =>
  (
    type: Modifiers['type'],
    site: Modifiers['site'],
    property: Modifiers['property'],
    more: Pick<Modifiers, 'phase' | 'divisor'> = {},
  ): Modifiers => ({ observation, type, site, property, ...more });
const structure = by('structure');
const behaviour = by('behaviour');
const flow = by('haemodynamic');

const EJECTION_FRACTION = flow('fractional', 'leftVentricle', 'ejectionFraction');
const DIASTOLE = { phase: 'endDiastole' } as const;
const SYSTOLE = { phase: 'endSystole' } as const;

/** Returns the modifiers for E/e'. The divisor is the e' of one wall, or the mean of both walls. */
const fillingRatio = (divisor: Modifiers['divisor']): Modifiers =>
  flow('ratio', 'mitralValve', 'peakVelocity', { phase: 'earlyFilling', divisor });

/** Concepts without a code in CID 12300, with the modifiers that TID 5302 requires instead. */
const POST_COORDINATED: Readonly<Record<string, Modifiers>> = {
  lvef: EJECTION_FRACTION,
  'lvef-networks': EJECTION_FRACTION,
  ivsd: structure('measured', 'septum', 'thickness', DIASTOLE),
  lvidd: structure('measured', 'leftVentricle', 'internalDimension', DIASTOLE),
  lvids: structure('measured', 'leftVentricle', 'internalDimension', SYSTOLE),
  lvpwd: structure('measured', 'myocardium', 'thickness', DIASTOLE),
  'lv-mass': structure('calculated', 'leftVentricle', 'mass', DIASTOLE),
  'lv-mass-index': structure('indexed', 'leftVentricle', 'mass', {
    ...DIASTOLE,
    divisor: 'bodySurface',
  }),
  'fractional-shortening': behaviour('fractional', 'leftVentricle', 'fractionalShortening'),
  'la-diameter': structure('measured', 'leftAtrium', 'diameter', SYSTOLE),
  'lvot-stroke-volume': flow('calculated', 'outflowTract', 'strokeVolume'),
  'lvot-stroke-index': flow('indexed', 'outflowTract', 'strokeVolume', { divisor: 'bodySurface' }),
  'velocity-index': flow('ratio', 'outflowTract', 'velocityIntegral', {
    divisor: 'aorticIntegral',
  }),
  'e-to-e-prime': fillingRatio('tissueVelocity'),
  'e-to-e-prime-septal': fillingRatio('septalVelocity'),
  'e-to-e-prime-lateral': fillingRatio('lateralVelocity'),
  rvsp: flow('calculated', 'rightVentricle', 'peakPressure', { phase: 'systole' }),
  'ra-pressure': flow('calculated', 'rightAtrium', 'meanPressure'),
  'ivc-collapse': behaviour('fractional', 'venaCava', 'diameter'),
  'tapse-to-spap': behaviour('ratio', 'tricuspidAnnulus', 'excursion', {
    divisor: 'systolicPressure',
  }),
  'rv-to-lv': structure('ratio', 'rightVentricle', 'diameter', {
    ...DIASTOLE,
    divisor: 'leftDiameter',
  }),
  'effusion-depth': structure('measured', 'effusion', 'thickness', DIASTOLE),
};

const modifier = (name: Code, value: Code): ContentItem => code('HAS CONCEPT MOD', name, value);

/** Returns the modifiers of a concept in the order of TID 5302; null if it has none. */
export function postCoordination(key: string): ContentItem[] | null {
  const said = POST_COORDINATED[key];
  if (!said) return null;
  return [
    modifier(SR.measurementType, TYPE[said.type]),
    modifier(SR.findingSite, SITE[said.site]),
    modifier(SR.findingObservationType, OBSERVATION[said.observation]),
    modifier(SR.measuredProperty, PROPERTY[said.property]),
    ...(said.phase ? [modifier(SR.cardiacCyclePoint, PHASE[said.phase])] : []),
    ...(said.divisor ? [modifier(SR.measurementDivisor, DIVISOR[said.divisor])] : []),
  ];
}

/**
 * Codes of CID 12300 outside the LOINC range from 79909-8 to 80091-2. All codes in that range are
 * in CID 12300, so they need not be listed.
 */
const CORE_CODES = new Set([
  ...['18032-3', '18038-0', '18042-2', '18049-7', '18071-1', '18175-0', '29434-8', '29435-5'],
  ...['77891-0', '77903-3', '78184-9', '78191-4'],
]);

/** Returns true if a code is a Core Echo Measurement (PS3.16 CID 12300, with CID 12309). */
export function isCoreEchoCode({ scheme, code: value }: Code): boolean {
  const number = Number.parseInt(value, 10);
  if (scheme === 'DCM') return number >= 130_686 && number <= 130_698;
  return scheme === 'LN' && (CORE_CODES.has(value) || (number >= 79_909 && number <= 80_091));
}

/**
 * Returns the rows that every NUM of TID 5301 and 5302 may have: the label, the mark on the value
 * to use, and the caliper.
 */
function described(
  measurement: Measurement,
  chosen: boolean | null,
  subject: Subject,
): ContentItem[] {
  const on = measuredOn(measurement, subject);
  const label = conceptEntry(measurement.concept.key)?.abbreviation ?? measurement.label;
  const calipers = on
    ? on.graphics.map((graphic) =>
        scoord('INFERRED FROM', SR.sourceOfMeasurement, graphic, on.image),
      )
    : [];
  return [
    ...(chosen ? [code('HAS PROPERTIES', SR.selectionStatus, SR.mostRecentChosen)] : []),
    text('HAS PROPERTIES', SR.shortLabel, label),
    ...calipers,
  ];
}

function value(measurement: Measurement, items: readonly ContentItem[]): ContentItem {
  const quantity = exchange(measurement)(measurement.value);
  return num('CONTAINS', conceptOf(measurement), quantity, items);
}

/**
 * Returns the pre-coordinated measurements (TID 5301). If several values have the same code, the
 * last one is marked as the value to use.
 */
function preCoordinated(measurements: readonly Measurement[], subject: Subject): ContentItem[] {
  const byCode = Map.groupBy(measurements, (measurement) => conceptOf(measurement).code);
  return [...byCode.values()].flatMap((values) =>
    values.map((measurement) => {
      const chosen = values.length > 1 ? measurement === values.at(-1) : null;
      return value(measurement, described(measurement, chosen, subject));
    }),
  );
}

/**
 * Builds the content tree of TID 5300 (PS3.16, PS3.17 CCCC) from the values that are used. It has
 * only rows that the template allows.
 */
function tid5300Tree(result: Result, subject: Subject): ContentItem {
  const standing = countingValues(accepted(result));
  const core = preCoordinated(
    standing.filter((measurement) => isCoreEchoCode(conceptOf(measurement))),
    subject,
  );
  const others = standing.flatMap((measurement) => {
    const modifiers = postCoordination(measurement.concept.key);
    return modifiers && !isCoreEchoCode(conceptOf(measurement))
      ? [value(measurement, [...modifiers, ...described(measurement, null, subject)])]
      : [];
  });
  // Both containers are rows of TID 5300; TID 5301 and 5302 start at the NUM items inside them.
  return root(SR.adultEchoReport, '5300', [
    languageItem(),
    ...observerItems(result),
    ...(core.length > 0 ? [container(SR.preCoordinatedMeasurements, core)] : []),
    ...(others.length > 0 ? [container(SR.postCoordinatedMeasurements, others)] : []),
  ]);
}

/**
 * Writes the adult echo report as a Simplified Adult Echo SR (TID 5300). Other classes are only for
 * validators that do not support this class. A value with neither a code in CID 12300 nor modifiers
 * for TID 5302 appears only in TID 1500 and 5200.
 * @returns a DICOM Part 10 file; the same result, subject and class give the same bytes.
 */
export function buildTid5300(
  result: Result,
  subject: Subject,
  sopClass: SrClass = 'simplifiedAdultEcho',
): Buffer {
  const tree = tid5300Tree(result, subject);
  return encode(srHeader(result, subject, { sopClass, role: 'sr-tid5300', number: 4, tree }), tree);
}
