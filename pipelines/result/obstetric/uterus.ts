import { ln, type MeasurementConcept, own, sct, type Unit } from '../coding.ts';
import { length, ratio } from './quantity.ts';

const AMNIOTIC_FLUID = sct('77012006', 'Amniotic fluid');
const CERVIX = sct('71252005', 'Cervix');
const PLACENTA = sct('78067005', 'Placenta');

/** What no scheme has (intrapartum ultrasound): 99USINT (obstetric reference 15.3). */
function intrapartum(
  label: string,
  abbreviation: string,
  code: string,
  unit: Unit,
): MeasurementConcept {
  return {
    label,
    abbreviation,
    codings: [{ scheme: '99USINT', code, meaning: label }],
    unit,
    exchange: { unit, factor: 1 },
    decimals: unit === 'deg' ? 0 : 1,
    group: 'intrapartum',
    site: null,
  };
}

/** Amniotic fluid, cervix, placenta, and the descent of the head. */
export const UTERUS = {
  'deepest-vertical-pocket': {
    ...length('Deepest vertical pocket', 'DVP', sct('81827009', 'Diameter'), AMNIOTIC_FLUID),
    group: 'amniotic-sac',
  },
  'amniotic-fluid-index': {
    ...length('Amniotic fluid index', 'AFI', ln('11627-7', 'Amniotic Fluid Index'), AMNIOTIC_FLUID),
    group: 'amniotic-sac',
  },
  'cervical-length': {
    ...length('Cervical length', 'CL', ln('11961-0', 'Cervix Length'), CERVIX),
    group: 'pelvis',
  },
  'funnel-depth': {
    ...length('Depth of the cervical funnel', 'funnel depth', own('funnel-depth'), CERVIX),
    group: 'pelvis',
  },
  'funnel-width': {
    ...length('Width of the cervical funnel', 'funnel width', own('funnel-width'), CERVIX),
    group: 'pelvis',
  },
  'percent-funnelling': {
    ...ratio('Percent funnelling', 'funnelling', own('percent-funnelling')),
    group: 'pelvis',
  },
  'placenta-to-os': {
    ...length('Lower placental edge to internal os', 'edge to os', own('placenta-to-os'), PLACENTA),
    group: 'pelvis',
  },
  'placental-thickness': {
    ...length('Placental thickness', 'thickness', own('placental-thickness'), PLACENTA),
    group: 'pelvis',
  },
  'angle-of-progression': intrapartum('Angle of progression', 'AoP', 'angle-of-progression', 'deg'),
  'head-symphysis-distance': intrapartum(
    'Head-symphysis distance',
    'HSD',
    'head-symphysis-distance',
    'mm',
  ),
  'head-direction': intrapartum('Head direction', 'HD', 'head-direction', 'deg'),
  'head-station': intrapartum('Head station by angle', 'station', 'head-station', 'cm'),
} as const satisfies Record<string, MeasurementConcept>;
