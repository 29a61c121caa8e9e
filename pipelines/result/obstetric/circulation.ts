import { type Coding, ln, type MeasurementConcept, own, sct } from '../coding.ts';

const UMBILICAL_ARTERY = sct('50536004', 'Umbilical artery');
const MIDDLE_CEREBRAL_ARTERY = sct('17232002', 'Middle cerebral artery');
const UTERINE_ARTERY = sct('91079009', 'Uterine artery');

/** Spectral Doppler properties of a vessel (CID 12119); the site tells the vessel. */
const DOPPLER = {
  pi: { name: 'PI', coding: ln('12008-9', 'Pulsatility Index'), unit: '1', decimals: 2 },
  ri: { name: 'RI', coding: ln('12023-8', 'Resistivity Index'), unit: '1', decimals: 2 },
  sd: {
    name: 'S/D',
    coding: ln('12144-2', 'Systolic to Diastolic Velocity Ratio'),
    unit: '1',
    decimals: 2,
  },
  psv: { name: 'PSV', coding: ln('11726-7', 'Peak Systolic Velocity'), unit: 'cm/s', decimals: 1 },
  edv: { name: 'EDV', coding: ln('11653-3', 'End Diastolic Velocity'), unit: 'cm/s', decimals: 1 },
} as const;

function vascular(
  vessel: { label: string; abbreviation: string; site: Coding | null },
  property: keyof typeof DOPPLER,
): MeasurementConcept {
  const { name, coding, unit, decimals } = DOPPLER[property];
  return {
    label: `${vessel.label} ${name}`,
    abbreviation: `${vessel.abbreviation} ${name}`,
    codings: [coding],
    unit,
    exchange: { unit, factor: 1 },
    decimals,
    group: 'vascular',
    site: vessel.site,
  };
}

/** A plain number that no scheme has a code for. */
function vascularIndex(label: string, abbreviation: string, code: string): MeasurementConcept {
  return {
    label,
    abbreviation,
    codings: [own(code)],
    unit: '1',
    exchange: { unit: '1', factor: 1 },
    decimals: 2,
    group: 'vascular',
    site: null,
  };
}

/** Ratios of heart to thorax on the four-chamber view (CID 12279). */
function cardiothoracic(label: string, abbreviation: string, coding: Coding): MeasurementConcept {
  return {
    label,
    abbreviation,
    codings: [coding],
    unit: '1',
    exchange: { unit: '1', factor: 1 },
    decimals: 2,
    group: 'heart',
    site: null,
  };
}

const UA = { label: 'Umbilical artery', abbreviation: 'UA', site: UMBILICAL_ARTERY };
const MCA = { label: 'Middle cerebral artery', abbreviation: 'MCA', site: MIDDLE_CEREBRAL_ARTERY };
const UTA = { label: 'Uterine artery', abbreviation: 'UtA', site: UTERINE_ARTERY };
const UNNAMED = { label: 'Unnamed vessel', abbreviation: 'vessel', site: null };

/** Arteries and veins of mother and fetus (CID 12119), the ratios of heart to thorax (CID 12279). */
export const CIRCULATION = {
  'umbilical-artery-pi': vascular(UA, 'pi'),
  'umbilical-artery-ri': vascular(UA, 'ri'),
  'umbilical-artery-sd': vascular(UA, 'sd'),
  'umbilical-artery-psv': vascular(UA, 'psv'),
  'umbilical-artery-edv': vascular(UA, 'edv'),
  'middle-cerebral-artery-pi': vascular(MCA, 'pi'),
  'middle-cerebral-artery-ri': vascular(MCA, 'ri'),
  'middle-cerebral-artery-sd': vascular(MCA, 'sd'),
  'middle-cerebral-artery-psv': vascular(MCA, 'psv'),
  'middle-cerebral-artery-edv': vascular(MCA, 'edv'),
  'uterine-artery-pi': vascular(UTA, 'pi'),
  'uterine-artery-ri': vascular(UTA, 'ri'),
  'uterine-artery-sd': vascular(UTA, 'sd'),
  'uterine-artery-psv': vascular(UTA, 'psv'),
  'uterine-artery-edv': vascular(UTA, 'edv'),
  'unnamed-vessel-pi': vascular(UNNAMED, 'pi'),
  'unnamed-vessel-ri': vascular(UNNAMED, 'ri'),
  'unnamed-vessel-sd': vascular(UNNAMED, 'sd'),
  'unnamed-vessel-psv': vascular(UNNAMED, 'psv'),
  'unnamed-vessel-edv': vascular(UNNAMED, 'edv'),
  'ductus-venosus-piv': vascularIndex(
    'Ductus venosus PI for veins',
    'DV PIV',
    'ductus-venosus-piv',
  ),
  'middle-cerebral-artery-psv-mom': vascularIndex(
    'Middle cerebral artery PSV, multiple of the median',
    'MCA PSV MoM',
    'middle-cerebral-artery-psv-mom',
  ),
  'cerebroplacental-ratio': vascularIndex(
    'Cerebroplacental ratio',
    'CPR',
    'cerebroplacental-ratio',
  ),
  'uterine-artery-mean-pi': vascularIndex(
    'Uterine artery PI, mean of both sides',
    'UtA mean PI',
    'uterine-artery-mean-pi',
  ),
  'cardiothoracic-area-ratio': cardiothoracic(
    'Cardiothoracic area ratio',
    'CTAR',
    ln('59076-0', 'Cardiothoracic Area Ratio'),
  ),
  'cardiothoracic-circumference-ratio': cardiothoracic(
    'Cardiothoracic circumference ratio',
    'CTCR',
    ln('59074-5', 'Cardiothoracic Circumference Ratio'),
  ),
  'cardiac-axis': {
    label: 'Cardiac axis, without its side',
    abbreviation: 'axis',
    codings: [own('cardiac-axis')],
    unit: 'deg',
    exchange: { unit: 'deg', factor: 1 },
    decimals: 0,
    group: 'heart',
    site: null,
  },
} as const satisfies Record<string, MeasurementConcept>;
