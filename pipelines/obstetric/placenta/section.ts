import { type PlacentalSide, say } from '../../result/render/obstetric/placenta.ts';
import { SIMULATED_ONLY } from '../../result/render/obstetric/shared.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import { inadequate, notAssessed } from '../../result/section-outcome.ts';
import { finding, type ObstetricSection, type SectionOutcome } from '../shared/section.ts';
import type { BodyReading, EdgeReading, PlacentaEvidence } from './evidence.ts';
import { ABNORMAL_LACUNAE, lacunaeGrade } from './guideline.ts';
import {
  edgeClassification,
  edgeFindings,
  edgeGaps,
  edgeGuidance,
  isLow,
  lowerEdge,
  PLACENTA_SECTION,
} from './judge.ts';
import { isTransabdominal, measureEdges, measureThickness } from './measure.ts';

const BODY_VIEW = 'transabdominal images of the placenta';
const EDGE_VIEW =
  'a calibrated transvaginal sagittal image with the internal os and the lower placental edge';

/**
 * Walls that exclude each other. If both are found, an image was misread or the placenta has a
 * second lobe.
 */
const OPPOSITE: readonly PlacentalSide[] = ['anterior', 'posterior'];
/**
 * Grey-scale and colour signs of EW-AIP (Collins 2016). An image can show lacunae but cannot
 * exclude them.
 */
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

/**
 * Returns the side that most accepted images show; several sides if there is a tie. With several
 * fetuses, who may have a placenta each, returns every side.
 */
function sidesOf(bodies: readonly BodyReading[], several: boolean): PlacentalSide[] {
  const sides = bodies.flatMap(({ located }) => (located?.accepted ? [located.side] : []));
  const counted = [...Map.groupBy(sides, (side) => side)];
  const most = several ? 1 : Math.max(0, ...counted.map(([, own]) => own.length));
  return counted.filter(([, own]) => own.length >= most).map(([side]) => side);
}

const isAbnormalNumber = (lacunae: number) => lacunaeGrade(lacunae) >= ABNORMAL_LACUNAE;

/**
 * Grades the image with the most lacunae, and lists the signs of accreta. Numbers that need review
 * are left out; if there is no other, the grade is null. `held` is true if such a number is
 * abnormal.
 */
function accretaOf(bodies: readonly BodyReading[]) {
  const accepted = bodies.flatMap(({ located }) => (located?.accepted ? [located] : []));
  const counted = accepted.filter(({ lacunaeHeld }) => !lacunaeHeld);
  const onlyHeld = accepted.length > 0 && counted.length === 0;
  const most = onlyHeld ? null : Math.max(0, ...counted.map(({ lacunae }) => lacunae));
  const grade = most === null ? null : lacunaeGrade(most);
  const present: Sign[] = most !== null && isAbnormalNumber(most) ? ['abnormal-lacunae'] : [];
  const signs = Object.fromEntries(
    ACCRETA_SIGNS.map((sign) => [sign, present.includes(sign) ? 'present' : 'not-assessable']),
  );
  const held = accepted.some((one) => one.lacunaeHeld && isAbnormalNumber(one.lacunae));
  return { most, grade, present, signs, held };
}

const routeOf = (edges: readonly EdgeReading[], transvaginal: boolean) =>
  transvaginal
    ? 'transvaginal'
    : edges.length > 0 && edges.every(isTransabdominal)
      ? 'transabdominal'
      : 'not_known';

function accretaFindings(present: readonly Sign[], low: boolean): FindingDraft[] {
  if (present.length === 0) return [];
  const said = say.conclusion(low ? 'placenta.accreta-low' : 'placenta.lacunae', {});
  const concept = 'placenta-accreta-spectrum';
  return [finding('accreta-signs', concept, said, low ? 'abnormal' : 'info')];
}

function run({ views, options, severalFetuses }: PlacentaEvidence): SectionOutcome {
  const view = views.placenta;
  if (view && (view.bodies === null || view.edges === null)) {
    return notAssessed('no_model', say.gap('placenta.no-model', {}), [BODY_VIEW, EDGE_VIEW]);
  }
  const bodies = view?.bodies ?? [];
  const edges = view?.edges ?? [];
  const sides = sidesOf(bodies, severalFetuses !== null);
  const thickness = view ? measureThickness(bodies, view.uncertainty.thickness) : [];
  const toOs = view ? measureEdges(edges, view.uncertainty.toOs) : [];
  const days = options.dating?.ga_days;
  const edge = lowerEdge(edges, toOs, days);
  if (bodies.length === 0 && !edge && !edges.some(({ located }) => located?.accepted)) {
    return notAssessed('view_missing', say.gap('placenta.no-view', {}), [BODY_VIEW, EDGE_VIEW]);
  }
  if (sides.length === 0 && !edge && !edges.some(({ located }) => located?.accepted)) {
    const gap = say.gap('placenta.not-clear', {});
    return inadequate('low_confidence', gap, [BODY_VIEW, EDGE_VIEW]);
  }
  const accreta = accretaOf(bodies);
  const opposite = OPPOSITE.every((side) => sides.includes(side));
  const missing = [
    ...(sides.length === 0 ? [say.gap('placenta.no-location', {})] : []),
    ...(opposite
      ? [say.gap('placenta.on-opposite-walls', { several: severalFetuses !== null })]
      : []),
    ...edgeGaps(edges, toOs, edge),
    ...(accreta.held ? [say.gap('placenta.lacunae-held', {})] : []),
  ];
  const found = [
    ...(sides.length > 0 && !opposite ? [say.conclusion('placenta.location', { sides })] : []),
    ...(edge ? [say.value('placenta.edge', { category: edge.category }, [edge.measurement])] : []),
  ];
  return {
    status: missing.length > 0 ? 'partial' : 'complete',
    reason:
      missing.length > 0 ? { code: 'parts_missing', gaps: missing, needs: [EDGE_VIEW] } : null,
    statements: [...found, ...missing],
    data: {
      location: sides,
      route: routeOf(edges, edge?.transvaginal ?? false),
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
      ...accretaFindings(accreta.present, isLow(edge)),
    ],
    guidance: days === undefined ? [] : edgeGuidance(edge, days),
  };
}

/**
 * Section on the placenta: location, distance to the internal os, accreta descriptors (obstetric
 * 9).
 */
export const placenta: ObstetricSection<PlacentaEvidence> = {
  id: PLACENTA_SECTION,
  title: 'Placenta',
  needs: [BODY_VIEW, EDGE_VIEW, 'gestational age'],
  reads: ['placenta'],
  run,
};
