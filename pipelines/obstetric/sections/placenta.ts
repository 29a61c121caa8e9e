import { findingConcept } from '../../result/concepts.ts';
import type { Finding, Measurement, Result } from '../../result/envelope.ts';
import {
  ABNORMAL_LACUNAE,
  LOW_EDGE_WEEKS,
  LOW_LYING_MM,
  lacunaeGrade,
  type PlacentaCategory,
  placentaCategory,
} from '../charts/placenta.ts';
import { acrossCutOff } from '../cut-off.ts';
import type { PlacentaSide } from '../locate/placenta-landmarks.ts';
import { format, standing } from '../measurement.ts';
import { measureEdges, measureThickness } from '../placenta-lengths.ts';
import type { BodyReading, EdgeReading } from '../read/placenta.ts';
import type { ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';
import { SIMULATED_ONLY } from '../simulated-only.ts';

const ID = 'placenta';
const BODY_VIEW = 'transabdominal images of the placenta';
const EDGE_VIEW =
  'a calibrated transvaginal sagittal image with the internal os and the lower placental edge';

const SIDE_TEXT: Readonly<Record<PlacentaSide, string>> = {
  anterior: 'anterior',
  posterior: 'posterior',
  'lateral-or-fundal': 'on a side of the picture (lateral or fundal)',
};

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

const CATEGORY_TEXT: Readonly<Record<PlacentaCategory, string>> = {
  praevia: 'placenta praevia',
  'low-lying': 'low-lying placenta',
  normal: 'not low-lying',
  'too-early': 'too early to classify',
};

interface Edge {
  measurement: Measurement;
  category: PlacentaCategory | null;
}

function classification({ measurement, category }: Edge): Result['classifications'] {
  if (!category) return [];
  const value = format('placenta-to-os', measurement.value);
  return [
    {
      id: 'placental-position',
      section: ID,
      concept: findingConcept('placental-location'),
      name: 'Lower placental edge',
      value: category,
      scheme: 'Reddy 2014; AIUM 2018; RCOG Green-top Guideline 27a (2018)',
      criteria: [
        { name: 'covers or reaches the internal os', value, met: measurement.value <= 0 },
        {
          name: `less than ${LOW_LYING_MM} mm from the internal os`,
          value,
          met: measurement.value < LOW_LYING_MM,
        },
      ],
    },
  ];
}

const isLow = (category: PlacentaCategory | null) =>
  category === 'praevia' || category === 'low-lying';

function edgeFindings({ measurement, category }: Edge): Finding[] {
  if (!category || !isLow(category)) return [];
  const words = CATEGORY_TEXT[category];
  return [
    {
      id: 'low-placenta',
      section: ID,
      concept: findingConcept(category === 'praevia' ? 'placenta-praevia' : 'low-lying-placenta'),
      text: `${words.charAt(0).toUpperCase()}${words.slice(1)}: lower edge ${format('placenta-to-os', measurement.value)} from the internal os, transvaginal.`,
      // Over the os is told at once.
      severity: category === 'praevia' ? 'critical' : 'abnormal',
      confidence: measurement.confidence,
      evidence: [measurement.id],
    },
  ];
}

function accretaFindings(present: readonly Sign[], low: boolean): Finding[] {
  if (present.length === 0) return [];
  return [
    {
      id: 'accreta-signs',
      section: ID,
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

/** Which later scans are still to come at this age (obstetric reference 9.2). */
function laterScans(gaDays: number): string {
  const [first, second] = LOW_EDGE_WEEKS;
  if (gaDays < first * 7) {
    return `Consider a repeat transvaginal scan at ${first} weeks and, if the edge is still low, at ${second} weeks; after`;
  }
  if (gaDays < second * 7) {
    return `The edge is still low at or after ${first} weeks: consider a repeat transvaginal scan at ${second} weeks; after`;
  }
  return `The edge is still low at or after ${second} weeks: consider the local protocol for birth with a low placenta. After`;
}

function guidance(category: PlacentaCategory | null, gaDays: number): Result['guidance'] {
  if (!isLow(category)) return [];
  return [
    {
      id: 'low-placenta',
      section: ID,
      text: `${laterScans(gaDays)} it has moved away, look for vasa praevia with colour Doppler.`,
      source:
        'Reddy et al. 2014, Obstet Gynecol 123:1070-1082; RCOG Green-top Guidelines 27a and 27b (2018)',
    },
  ];
}

function notAssessed(code: string, detail: string): SectionOutcome {
  const needs = [BODY_VIEW, EDGE_VIEW];
  return { status: 'not_assessed', reason: { code, detail, needs }, summary: detail };
}

/** What the edge needs and lacks; null where it was measured and categorised. */
function edgeGap(edges: readonly EdgeReading[], edge: Edge | null): string | null {
  if (edge?.category) return null;
  if (edge)
    return 'Gestational age was not given, so the distance to the internal os was not categorised.';
  const located = edges.filter((reading) => reading.located?.accepted);
  return located.length > 0
    ? 'The distance to the internal os was not measured: no physical scale was available.'
    : 'Placental edge not shown; the distance to the internal os was not assessed and needs a transvaginal scan.';
}

function run({ views, options }: ObstetricEvidence): SectionOutcome {
  const view = views.placenta;
  if (view && (view.bodies === null || view.edges === null)) {
    return notAssessed('no_model', 'No model of the placenta is permitted by the configuration.');
  }
  const bodies = view?.bodies ?? [];
  const edges = view?.edges ?? [];
  const sides = sidesOf(bodies);
  const thickness = view ? measureThickness(bodies, view.uncertainty.thickness) : [];
  const toOs = view ? measureEdges(edges, view.uncertainty.toOs) : [];
  const distance = standing(toOs, 'placenta-to-os');
  const days = options.dating?.ga_days;
  const edge: Edge | null = distance && {
    measurement: distance,
    category: days === undefined ? null : placentaCategory(distance.value, days / 7),
  };
  if (bodies.length === 0 && !edge && !edges.some(({ located }) => located?.accepted)) {
    return notAssessed(
      'view_missing',
      'The placenta was not assessed: no image of it was found. Placental edge not shown; the distance to the internal os was not assessed.',
    );
  }
  if (sides.length === 0 && !edge && !edges.some(({ located }) => located?.accepted)) {
    const detail = 'The placenta was not assessed: its outline is not clear on the images.';
    const reason = { code: 'low_confidence', detail, needs: [BODY_VIEW, EDGE_VIEW] };
    return { status: 'inadequate', reason, summary: detail };
  }
  const accreta = accretaOf(bodies);
  const missing = [
    sides.length === 0 ? 'The location of the placenta was not assessed.' : null,
    edgeGap(edges, edge),
    edge?.category &&
      edge.category !== 'too-early' &&
      acrossCutOff(edge.measurement.value, edge.measurement.uncertainty, [0, LOW_LYING_MM]),
  ].filter((text): text is string => typeof text === 'string');
  const found = [
    ...(sides.length > 0
      ? [
          `Placenta ${sides.map((side) => SIDE_TEXT[side]).join(' and ')}, with the probe on the mother's front.`,
        ]
      : []),
    ...(edge
      ? [
          `Lower edge ${format('placenta-to-os', edge.measurement.value)} from the internal os${edge.category ? `: ${CATEGORY_TEXT[edge.category]}` : ''}.`,
        ]
      : []),
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
      route: edges.length > 0 ? 'transvaginal' : 'transabdominal',
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
    classifications: edge ? classification(edge) : [],
    findings: [
      ...(edge ? edgeFindings(edge) : []),
      ...accretaFindings(accreta.present, isLow(edge?.category ?? null)),
    ],
    guidance: days === undefined ? [] : guidance(edge?.category ?? null, days),
  };
}

/** Location, distance to the internal os, accreta descriptors (obstetric reference 9). */
export const placenta: ObstetricSection = {
  id: ID,
  title: 'Placenta',
  needs: [BODY_VIEW, EDGE_VIEW, 'gestational age'],
  reads: ['placenta'],
  run,
};
