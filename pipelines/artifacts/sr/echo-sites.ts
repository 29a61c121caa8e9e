import { dcm, sct } from '../../concepts/coding.ts';
import { type ConceptKey, conceptEntry } from '../../concepts/concepts.ts';
import { MEASURED_ON } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { Code } from './content-item.ts';

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
} as const satisfies Record<keyof typeof MEASURED_ON, Code>;
export type EchoSite = keyof typeof ECHO_SITES;

const SITE_OF: ReadonlyMap<string, EchoSite> = new Map(
  (Object.keys(MEASURED_ON) as EchoSite[]).flatMap((site) =>
    Object.keys(MEASURED_ON[site]).map((key) => [key, site] as const),
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
