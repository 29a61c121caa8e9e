import { findingConcept } from '../../concepts/concepts.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';

import { inadequate, notAssessed } from '../../result/section-outcome.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import { SIMULATED_ONLY } from '../shared/simulated-only.ts';
import type { BodyReading, PlacentaEvidence, PlacentaSide } from './evidence.ts';
import { ABNORMAL_LACUNAE, lacunaeGrade } from './guideline.ts';
import {
  edgeClassification,
  edgeFindings,
  edgeGaps,
  edgeGuidance,
  edgeSentence,
  isLow,
  lowerEdge,
  PLACENTA_SECTION,
} from './judge.ts';
import { isTransabdominal, measureEdges, measureThickness } from './measure.ts';

const BODY_VIEW = 'transabdominal images of the placenta';
const EDGE_VIEW =
  'a calibrated transvaginal sagittal image with the internal os and the lower placental edge';

const SIDE_TEXT: Readonly<Record<PlacentaSide, string>> = {
  anterior: 'anterior',
  posterior: 'posterior',
  'lateral-or-fundal': 'on a side of the picture (lateral or fundal)',
};

/** One placenta lies on one wall: both say that an image was misread, or that there is a second lobe. */
const OPPOSITE: readonly PlacentaSide[] = ['anterior', 'posterior'];
const ON_OPPOSITE_WALLS =
  'The images show the placenta on opposite walls, anterior and posterior: an image may be misread, or there is a second lobe. Its location was not decided.';

/** Grey-scale and colour signs of EW-AIP (Collins 2016); one image can show lacunae, not exclude. */
const ACCRETA_SIGNS = [
  'loss-of-clear-zone',
  'abnormal-lacunae',
  'bladder-wall-interruption',
  'myometrial-thinning',
  'placental-bulge',
  'focal-exophytic-mass',
  'uterovesical-hypervascularity',
  'subplacental-hypervascularity',
  'bridging-vessels',
  'lacunar-feeder-vessels',
  'intraplacental-hypervascularity',
  'parametrial-involvement',
] as const;

type Sign = (typeof ACCRETA_SIGNS)[number];

/** Sides on which most of the accepted images show the placenta, each once. */
function sidesOf(bodies: readonly BodyReading[]): PlacentaSide[] {
  const sides = bodies.flatMap(({ located }) => (located?.accepted ? [located.side] : []));
  const counted = [...Map.groupBy(sides, (side) => side)];
  return counted.filter(([, own]) => 2 * own.length >= sides.length).map(([side]) => side);
}

/** The lacunae of the image that shows most of them, by number only. */
function accretaOf(bodies: readonly BodyReading[]) {
  const counts = bodies.flatMap(({ located }) => (located?.accepted ? [located.lacunae] : []));
  const most = Math.max(0, ...counts);
  const grade = lacunaeGrade(most);
  const present: Sign[] = grade >= ABNORMAL_LACUNAE ? ['abnormal-lacunae'] : [];
  const signs = Object.fromEntries(
    ACCRETA_SIGNS.map((sign) => [sign, present.includes(sign) ? 'present' : 'not-assessable']),
  );
  return { most, grade, present, signs };
}

function accretaFindings(present: readonly Sign[], low: boolean): FindingDraft[] {
  if (present.length === 0) return [];
  return [
    {
      id: 'accreta-signs',
      section: PLACENTA_SECTION,
      concept: findingConcept('placenta-accreta-spectrum'),
      text: low
        ? 'Suspected placenta accreta spectrum: refer. Sign seen: abnormal lacunae; the placenta is low.'
        : 'Abnormal lacunae seen. Whether they raise suspicion of placenta accreta spectrum depends on previous uterine surgery and a low placenta, which are not known here.',
      severity: low ? 'abnormal' : 'info',
      confidence: null,
      evidence: [],
    },
  ];
}

function run({ views, options }: PlacentaEvidence): SectionOutcome {
  const view = views.placenta;
  if (view && (view.bodies === null || view.edges === null)) {
    const detail = 'No model of the placenta is permitted by the configuration.';
    return notAssessed('no_model', detail, [BODY_VIEW, EDGE_VIEW]);
  }
  const bodies = view?.bodies ?? [];
  const edges = view?.edges ?? [];
  const sides = sidesOf(bodies);
  const thickness = view ? measureThickness(bodies, view.uncertainty.thickness) : [];
  const toOs = view ? measureEdges(edges, view.uncertainty.toOs) : [];
  const days = options.dating?.ga_days;
  const edge = lowerEdge(toOs, days);
  if (bodies.length === 0 && !edge && !edges.some(({ located }) => located?.accepted)) {
    const detail =
      'The placenta was not assessed: no image of it was found. Placental edge not shown; the distance to the internal os was not assessed.';
    return notAssessed('view_missing', detail, [BODY_VIEW, EDGE_VIEW]);
  }
  if (sides.length === 0 && !edge && !edges.some(({ located }) => located?.accepted)) {
    const detail = 'The placenta was not assessed: its outline is not clear on the images.';
    return inadequate('low_confidence', detail, [BODY_VIEW, EDGE_VIEW]);
  }
  const accreta = accretaOf(bodies);
  const opposite = OPPOSITE.every((side) => sides.includes(side));
  const missing = [
    ...(sides.length === 0 ? ['The location of the placenta was not assessed.'] : []),
    ...(opposite ? [ON_OPPOSITE_WALLS] : []),
    ...edgeGaps(edges, toOs, edge),
  ];
  const found = [
    ...(sides.length > 0 && !opposite
      ? [
          `Placenta ${sides.map((side) => SIDE_TEXT[side]).join(' and ')}, with the probe on the mother's front.`,
        ]
      : []),
    ...(edge ? [edgeSentence(edge)] : []),
  ];
  return {
    status: missing.length > 0 ? 'partial' : 'complete',
    reason:
      missing.length > 0
        ? { code: 'parts_missing', detail: missing.join(' '), needs: [EDGE_VIEW] }
        : null,
    summary: [...found, ...missing].join(' '),
    data: {
      location: sides,
      route: edges.every(isTransabdominal) ? 'transabdominal' : 'transvaginal',
      cord_insertion: 'not_assessed',
      lobes: 'not_assessed',
      pas: {
        signs: accreta.signs,
        signs_present: accreta.present,
        signs_assessed: accreta.present,
        lacunae_seen: accreta.most,
        lacunae_grade_by_number: accreta.grade,
        risk: 'not-computed',
        previous_uterine_surgery: 'not_known',
      },
      limitation: SIMULATED_ONLY,
    },
    measurements: [...toOs, ...thickness],
    classifications: edge ? edgeClassification(edge) : [],
    findings: [
      ...(edge ? edgeFindings(edge) : []),
      ...accretaFindings(accreta.present, isLow(edge?.category ?? null)),
    ],
    guidance: days === undefined ? [] : edgeGuidance(edge?.category ?? null, days),
  };
}

/** Location, distance to the internal os, accreta descriptors (obstetric 9). */
export const placenta: ObstetricSection<PlacentaEvidence> = {
  id: PLACENTA_SECTION,
  title: 'Placenta',
  needs: [BODY_VIEW, EDGE_VIEW, 'gestational age'],
  reads: ['placenta'],
  run,
};
