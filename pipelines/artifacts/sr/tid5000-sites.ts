import { conceptEntry } from '../../result/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { Subject } from '../subject.ts';
import { type Code, type ContentItem, code, container } from './content-item.ts';
import { measuredOn, measurementItem, sourceItems } from './measured-value.ts';
import { SR } from './vocabulary.ts';

const groupOf = ({ concept }: Measurement) => conceptEntry(concept.key)?.group;
const siteOf = ({ concept }: Measurement) => conceptEntry(concept.key)?.site ?? null;

function items(measurements: readonly Measurement[], subject: Subject): ContentItem[] {
  return measurements.map((measurement) => {
    const on = measuredOn(measurement, subject);
    return measurementItem(measurement, { sources: on ? sourceItems(on) : [] });
  });
}

/** Findings of one site: the sections of TID 5000 that have no title of their own. */
function findings(
  site: Code,
  contents: readonly ContentItem[],
  { about = [], template }: { about?: readonly ContentItem[]; template?: string } = {},
): ContentItem[] {
  if (contents.length === 0) return [];
  const where = code('HAS CONCEPT MOD', SR.findingSite, site);
  return [container(SR.findings, [...about, where, ...contents], template)];
}

/** TID 5010: index and pockets of the amniotic fluid; `about` names the fetus where it must. */
export function amnioticSacSection(
  measurements: readonly Measurement[],
  subject: Subject,
  about: readonly ContentItem[],
): ContentItem[] {
  const own = items(
    measurements.filter((one) => groupOf(one) === 'amniotic-sac'),
    subject,
  );
  return findings(SR.amnioticSac, own, { about, template: '5010' });
}

/** TID 5015: cervix and lower placental edge. */
export function pelvisSection(
  measurements: readonly Measurement[],
  subject: Subject,
): ContentItem[] {
  const own = items(
    measurements.filter((one) => groupOf(one) === 'pelvis'),
    subject,
  );
  return own.length > 0 ? [container(SR.pelvisAndUterus, own, '5015')] : [];
}

/** Vessels of CID 12141 that are measured; CID 12140 has the others, the umbilical artery too. */
const FETAL_VASCULATURE: ReadonlySet<string> = new Set(['17232002', '281130003']);

const LATERALITY: Readonly<Record<string, Code>> = { left: SR.left, right: SR.right };

/** TID 5025 and 5026: a group for each vessel and side, titled by the vessel. */
function vesselGroups(
  measurements: readonly Measurement[],
  subject: Subject,
  template: string,
  about: readonly ContentItem[],
): ContentItem[] {
  const groups = Map.groupBy(measurements, (one) => `${siteOf(one)?.code} ${one.laterality ?? ''}`);
  return Array.from(groups.values(), (own) => {
    const [first] = own;
    const vessel = first && siteOf(first);
    if (!first || !vessel) return [];
    const side = LATERALITY[first.laterality ?? ''];
    return [
      container(
        vessel,
        [
          ...about,
          ...(side ? [code('HAS CONCEPT MOD', SR.laterality, side)] : []),
          ...items(own, subject),
        ],
        template,
      ),
    ];
  }).flat();
}

/** Doppler of named vessels: of the fetus (TID 5025), of the pelvis and the cord (TID 5026). */
export function vascularSections(
  measurements: readonly Measurement[],
  subject: Subject,
  about: readonly ContentItem[],
): ContentItem[] {
  const own = measurements.filter((one) => groupOf(one) === 'vascular' && siteOf(one) !== null);
  const [fetal, pelvic] = [true, false].map((inFetus) =>
    own.filter((one) => FETAL_VASCULATURE.has(siteOf(one)?.code ?? '') === inFetus),
  );
  return [
    ...findings(SR.embryonicVessels, vesselGroups(fetal ?? [], subject, '5025', about)),
    ...findings(SR.pelvicVessels, vesselGroups(pelvic ?? [], subject, '5026', about)),
  ];
}
