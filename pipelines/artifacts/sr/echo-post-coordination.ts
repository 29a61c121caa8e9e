import { type Code, type ContentItem, code } from './content-item.ts';
import { ECHO_SITES } from './echo-sites.ts';
import { SR } from './vocabulary.ts';

const dcm = (value: string, meaning: string): Code => ({ scheme: 'DCM', code: value, meaning });
const ln = (value: string, meaning: string): Code => ({ scheme: 'LN', code: value, meaning });
const sct = (value: string, meaning: string): Code => ({ scheme: 'SCT', code: value, meaning });

/** CID 12303. */
const TYPE = {
  measured: dcm('125316', 'Directly measured'),
  calculated: dcm('125315', 'Calculated'),
  indexed: dcm('125313', 'Indexed'),
  fractional: dcm('125314', 'Fractional Change'),
} as const;

/** CID 12302. */
const OBSERVATION = {
  structure: dcm('125311', 'Structure of the finding site'),
  behaviour: dcm('125312', 'Behavior of the finding site'),
  haemodynamic: sct('44324008', 'Hemodynamic Measurements'),
} as const;

/** CID 12304. */
const PROPERTY = {
  thickness: ln('59089-3', 'Thickness'),
  internalDimension: ln('59090-1', 'Internal Dimension'),
  diameter: sct('81827009', 'Diameter'),
  fractionalShortening: ln('59132-1', 'Fractional Shortening'),
  area: sct('42798000', 'Area'),
  mass: sct('118538004', 'Mass'),
  ejectionFraction: sct('70822001', 'Cardiac Ejection Fraction'),
  strokeVolume: sct('90096001', 'Stroke Volume'),
} as const;

/** CID 12307. */
const PHASE = {
  endDiastole: sct('416190007', 'End diastole'),
  endSystole: sct('416430001', 'End systole'),
} as const;

const SITE = {
  ...ECHO_SITES,
  septum: sct('589001', 'Interventricular septum'),
  myocardium: sct('49848007', 'Left Ventricle Myocardium'),
  outflowTract: sct('13418002', 'Left ventricle outflow tract'),
} as const;

interface Modifiers {
  type: keyof typeof TYPE;
  site: keyof typeof SITE;
  observation: keyof typeof OBSERVATION;
  property: keyof typeof PROPERTY;
  phase?: keyof typeof PHASE;
  perBodySurface?: true;
}

const inEndDiastole = (site: Modifiers['site'], property: Modifiers['property']): Modifiers => ({
  type: 'measured',
  site,
  observation: 'structure',
  property,
  phase: 'endDiastole',
});

/** Concepts without a code of CID 12300, and what TID 5302 asks to be said of them instead. */
const POST_COORDINATED: Readonly<Record<string, Modifiers>> = {
  lvef: {
    type: 'fractional',
    site: 'leftVentricle',
    observation: 'haemodynamic',
    property: 'ejectionFraction',
  },
  ivsd: inEndDiastole('septum', 'thickness'),
  lvidd: inEndDiastole('leftVentricle', 'internalDimension'),
  lvids: { ...inEndDiastole('leftVentricle', 'internalDimension'), phase: 'endSystole' },
  lvpwd: inEndDiastole('myocardium', 'thickness'),
  'lv-mass': { ...inEndDiastole('leftVentricle', 'mass'), type: 'calculated' },
  'lv-mass-index': {
    ...inEndDiastole('leftVentricle', 'mass'),
    type: 'indexed',
    perBodySurface: true,
  },
  'fractional-shortening': {
    type: 'fractional',
    site: 'leftVentricle',
    observation: 'behaviour',
    property: 'fractionalShortening',
  },
  'la-diameter': { ...inEndDiastole('leftAtrium', 'diameter'), phase: 'endSystole' },
  'la-area-4c': { ...inEndDiastole('leftAtrium', 'area'), phase: 'endSystole' },
  'lvot-stroke-volume': {
    type: 'calculated',
    site: 'outflowTract',
    observation: 'haemodynamic',
    property: 'strokeVolume',
  },
  'lvot-stroke-index': {
    type: 'indexed',
    site: 'outflowTract',
    observation: 'haemodynamic',
    property: 'strokeVolume',
    perBodySurface: true,
  },
};

const modifier = (name: Code, value: Code): ContentItem => code('HAS CONCEPT MOD', name, value);

/** The modifiers of a concept in the order of TID 5302; null where the table has none for it. */
export function postCoordination(key: string): ContentItem[] | null {
  const said = POST_COORDINATED[key];
  if (!said) return null;
  return [
    modifier(SR.measurementType, TYPE[said.type]),
    modifier(SR.findingSite, SITE[said.site]),
    modifier(SR.findingObservationType, OBSERVATION[said.observation]),
    modifier(SR.measuredProperty, PROPERTY[said.property]),
    ...(said.phase ? [modifier(SR.cardiacCyclePoint, PHASE[said.phase])] : []),
    ...(said.perBodySurface ? [modifier(SR.measurementDivisor, SR.bodySurfaceArea)] : []),
  ];
}
