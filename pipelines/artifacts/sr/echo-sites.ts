import { conceptEntry } from '../../concepts/concepts.ts';
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

/** Sections by pattern of the concept key; the first match is used. */
const BY_KEY: readonly (readonly [RegExp, EchoSite])[] = [
  [/^(lv|ivsd|fractional-|relative-wall|gls-|mechanical-|wall-motion|ivrt)/, 'leftVentricle'],
  [/^(rv-|rvsp|tapse|rimp)/, 'rightVentricle'],
  [/^la-/, 'leftAtrium'],
  [/^ra-/, 'rightAtrium'],
  [/^(mitral-|e-|a-prime|s-prime|deceleration-|mr-|mv-|mapse)/, 'mitralValve'],
  [/^tr-/, 'tricuspidValve'],
  [/^(pr-|pv-|rvot-)/, 'pulmonicValve'],
  [/^pa-/, 'pulmonaryArtery'],
  [/^(av-|ar-|velocity-index)/, 'aorticValve'],
  [/^aortic-root/, 'aorta'],
  [/^pulmonary-vein/, 'pulmonaryVein'],
  [/^ivc-/, 'venaCava'],
  [/^effusion-/, 'pericardium'],
];

/**
 * Returns the section of TID 5200 to which an adult echo measurement belongs; null for any other
 * measurement.
 */
export function echoSite({ concept }: Measurement): EchoSite | null {
  if (conceptEntry(concept.key)?.group !== 'echo') return null;
  return BY_KEY.find(([begins]) => begins.test(concept.key))?.[1] ?? null;
}

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

/** Findings for values that do not belong to a single structure (PS3.16 CID 271, CID 12140). */
const WHOLES: readonly (readonly [RegExp, Code])[] = [
  [/^body-surface-area$/, dcm('121025', 'Patient')],
  [/^percent-funnelling$/, sct('71252005', 'Cervix')],
  [/^uterine-artery/, sct('91079009', 'Uterine artery')],
  [/^unnamed-vessel/, sct('59820001', 'Blood vessel')],
];

/** Returns the finding for a measurement for which `siteOf` returns null. */
export function wholeOf({ concept }: Measurement): Code {
  const named = WHOLES.find(([begins]) => begins.test(concept.key))?.[1];
  if (named) return named;
  const entry = conceptEntry(concept.key);
  if (!entry) return dcm('121025', 'Patient');
  return entry.group === 'echo' ? sct('80891009', 'Heart') : dcm('121026', 'Fetus');
}
