import { type ConceptKey, conceptEntry } from '../../concepts/concepts.ts';
import type { EchoConcept } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import { type Code, dcm, sct } from './content-item.ts';

/**
 * Structures for which TID 5202 has a section (PS3.16; echo 18.2), in the order of that template.
 */
export const ECHO_SITES = {
  leftVentricle: sct('87878005', 'Left ventricle'),
  rightVentricle: sct('53085002', 'Right ventricle'),
  leftAtrium: sct('82471001', 'Left atrium'),
  rightAtrium: sct('73829009', 'Right atrium'),
  mitralValve: sct('91134007', 'Mitral valve'),
  tricuspidValve: sct('46030003', 'Tricuspid valve'),
  pulmonicValve: sct('39057004', 'Pulmonic valve'),
  pulmonaryArtery: sct('81040000', 'Pulmonary artery'),
  aorticValve: sct('34202007', 'Aortic valve'),
  aorta: sct('15825003', 'Aorta'),
  pulmonaryVein: sct('430757002', 'Pulmonary vein'),
  venaCava: sct('64131007', 'Inferior vena cava'),
  pericardium: sct('76848001', 'Pericardium'),
} as const satisfies Record<string, Code>;
export type EchoSite = keyof typeof ECHO_SITES;

/**
 * The adult echo measurements of each structure. A measurement is not listed if it belongs to no
 * structure, or to an annulus or flow that the image header does not name.
 */
const MEASURED_ON = {
  leftVentricle: [
    'lvef',
    'lvef-biplane',
    'lvef-4c',
    'lvef-2c',
    'lvef-3d',
    'lvef-teichholz',
    'lvedv-biplane',
    'lvesv-biplane',
    'lvedv-index',
    'lvesv-index',
    'ivsd',
    'lvidd',
    'lvids',
    'lvpwd',
    'lv-mass',
    'lv-mass-index',
    'relative-wall-thickness',
    'fractional-shortening',
    'gls-end-systolic',
    'gls-end-systolic-4c',
    'gls-end-systolic-2c',
    'gls-end-systolic-3c',
    'gls-peak-systolic',
    'gls-peak-systolic-4c',
    'gls-peak-systolic-2c',
    'gls-peak-systolic-3c',
    'gls-peak',
    'gls-peak-4c',
    'gls-peak-2c',
    'gls-peak-3c',
    'mechanical-dispersion',
    'wall-motion-score-index',
    'ivrt',
    'lvot-diameter',
    'lvot-vti',
    'lvot-vmax',
    'lvot-stroke-volume',
    'lvot-stroke-index',
    'lvot-gradient-rest',
    'lvot-gradient-provoked',
    'lv-ed-area-4c',
    'lv-es-area-4c',
    'lv-ed-area-2c',
    'lv-es-area-2c',
    'lv-ed-area-3c',
    'lv-es-area-3c',
    'lv-muscle-area-4c',
    'lv-muscle-area-2c',
    'lv-muscle-area-3c',
    'lvef-networks',
    'lvedv-4c',
    'lvesv-4c',
    'lvedv-2c',
    'lvesv-2c',
    'lv-length-4c',
    'lv-length-2c',
  ],
  rightVentricle: [
    'tapse',
    'rv-s-prime',
    'rv-fac',
    'rv-ed-area',
    'rv-es-area',
    'rv-basal',
    'rv-mid',
    'rv-wall',
    'rimp',
    'rvsp',
    'tapse-to-spap',
    'rv-e-prime',
    'rv-a-prime',
    'rv-to-lv-area',
    'rv-to-lv',
  ],
  leftAtrium: [
    'la-volume-biplane',
    'la-volume-area-length',
    'la-volume-index',
    'la-volume-index-area-length',
    'la-diameter',
    'la-area-4c',
    'la-area-2c',
    'la-length-4c',
    'la-length-2c',
    'la-volume-4c',
    'la-volume-2c',
  ],
  rightAtrium: ['ra-area', 'ra-pressure'],
  mitralValve: [
    'mitral-e',
    'mitral-a',
    'e-to-a',
    'deceleration-time',
    'e-prime-septal',
    'e-prime-lateral',
    'e-to-e-prime',
    'e-to-e-prime-septal',
    'e-to-e-prime-lateral',
    'mr-orifice',
    'mr-volume',
    'mr-fraction',
    'mv-area-planimetry',
    'mv-area-half-time',
    'mv-half-time',
    'mv-mean-gradient',
    'mitral-a-duration',
    'mv-vti',
    'mr-vmax',
    'a-prime-septal',
    'a-prime-lateral',
    's-prime-septal',
    's-prime-lateral',
    'mapse',
  ],
  tricuspidValve: ['tr-vmax', 'tr-gradient', 'tr-vena-contracta'],
  pulmonicValve: ['rvot-acceleration', 'pr-vmax', 'rvot-vti', 'pv-vmax', 'pr-end-velocity'],
  pulmonaryArtery: ['pa-diameter'],
  aorticValve: [
    'av-vmax',
    'av-mean-gradient',
    'av-vti',
    'av-area',
    'av-area-vmax',
    'av-area-index',
    'av-area-vmax-index',
    'velocity-index',
    'ar-half-time',
    'ar-vena-contracta',
    'ar-jet-width',
    'ar-orifice',
    'ar-volume',
    'ar-fraction',
    'ar-vmax',
  ],
  aorta: ['aortic-root'],
  pulmonaryVein: ['pulmonary-vein-s', 'pulmonary-vein-d', 'pulmonary-vein-ratio'],
  venaCava: ['ivc-diameter', 'ivc-least-diameter', 'ivc-collapse'],
  pericardium: ['effusion-depth'],
} as const satisfies Record<EchoSite, readonly EchoConcept[]>;

const SITE_OF: ReadonlyMap<string, EchoSite> = new Map(
  (Object.keys(MEASURED_ON) as EchoSite[]).flatMap((site) =>
    MEASURED_ON[site].map((key) => [key, site] as const),
  ),
);

/**
 * Returns the section of TID 5200 to which an adult echo measurement belongs; null for any other
 * measurement.
 */
export const echoSite = ({ concept }: Measurement): EchoSite | null =>
  SITE_OF.get(concept.key) ?? null;

/**
 * Returns the finding site of a measurement: the site of its concept, otherwise the structure of
 * its section in TID 5200. Null if neither exists.
 */
export function siteOf(measurement: Measurement): Code | null {
  const site = conceptEntry(measurement.concept.key)?.site;
  if (site) return site;
  const section = echoSite(measurement);
  return section && ECHO_SITES[section];
}

const VESSEL = sct('59820001', 'Blood vessel');

/**
 * Findings for the values that have no site and whose finding is neither the fetus nor the heart.
 */
const WHOLES: ReadonlyMap<string, Code> = new Map<ConceptKey, Code>([
  ['body-surface-area', dcm('121025', 'Patient')],
  ['percent-funnelling', sct('71252005', 'Cervix')],
  ['uterine-artery-mean-pi', sct('91079009', 'Uterine artery')],
  ['unnamed-vessel-pi', VESSEL],
  ['unnamed-vessel-ri', VESSEL],
  ['unnamed-vessel-sd', VESSEL],
  ['unnamed-vessel-psv', VESSEL],
  ['unnamed-vessel-edv', VESSEL],
]);

/** Returns the finding for a measurement for which `siteOf` returns null. */
export function wholeOf({ concept }: Measurement): Code {
  const named = WHOLES.get(concept.key);
  if (named) return named;
  const entry = conceptEntry(concept.key);
  if (!entry) return dcm('121025', 'Patient');
  return entry.group === 'echo' ? sct('80891009', 'Heart') : dcm('121026', 'Fetus');
}
