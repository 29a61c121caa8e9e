import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GrayImage, Point } from '../../pipelines/contract/image.ts';
import { type Clip, type Frame, UNDESCRIBED } from '../../pipelines/contract/study.ts';
import type { ModelSession } from '../../pipelines/inference/session.ts';
import { distance } from '../../pipelines/measure/ellipse.ts';
import { pocketOf } from '../../pipelines/obstetric/amniotic-fluid/read.ts';
import { cervixOfMaps } from '../../pipelines/obstetric/cervix/locate.ts';
import { measureCervix } from '../../pipelines/obstetric/cervix/measure.ts';
import { placentaEdgeOfMaps, placentaOfMaps } from '../../pipelines/obstetric/placenta/locate.ts';
import {
  drawUterineMaps,
  type UterineMaps,
} from '../../pipelines/obstetric/shared/uterine-maps.ts';
import type { Measured } from './agreement.ts';
import { type Case, readGray } from './cases.ts';

interface Label {
  file: string;
  plane: string;
  columns: number;
  rows: number;
  mmPerPixel: number;
  values: Readonly<Record<string, number>>;
  points: Readonly<Record<string, readonly Point[]>>;
}

/** Agreement on phantoms for each quantity, and how often each decision was right. */
interface UterusEvaluation {
  measured: Record<string, Measured[]>;
  decisions: Record<string, { right: number; of: number }>;
}

const PLANES = ['cervix', 'placenta', 'amniotic-fluid'];
const WALLS = ['anterior', 'posterior', 'lateral-or-fundal'];
/**
 * If the placental edge is within this distance in mm of the internal os, the side on which it was
 * found is not scored, because either side is acceptable.
 */
const UNDECIDED_MM = 2;

function calibratedClip({ file, columns, rows, mmPerPixel }: Label, image: GrayImage) {
  const area = { minX: 0, minY: 0, maxX: columns - 1, maxY: rows - 1 };
  const region = {
    area,
    scale: { x: mmPerPixel, y: mmPerPixel },
    source: 'region' as const,
  };
  const frame: Frame = {
    index: 0,
    time: 0,
    gray: async () => image,
    rgb: async () => ({ width: 1, height: 1, data: new Uint8Array(3) }),
  };
  const clip: Clip = {
    ...UNDESCRIBED,
    file,
    width: columns,
    height: rows,
    frames: [frame],
    regions: [region],
    calibrationRefused: null,
    mode: '2d',
  };
  return { clip, frame, region };
}

function pocket(label: Label, image: GrayImage, drawn: UterineMaps): Measured {
  const { region } = calibratedClip(label, image);
  const found = pocketOf({ image, drawn }, region);
  return {
    image: label.file,
    referenceMm: label.values.pocketMm ?? 0,
    measuredMm: found && distance(found.top, found.bottom, region.scale),
    confidence: found?.confidence ?? 0,
    accepted: (found?.accepted ?? false) && !found?.cut,
  };
}

/**
 * Measures the length of the closed cervix and the depth of its funnel (0 without a funnel) as the
 * report section does.
 */
function cervix(label: Label, image: GrayImage, drawn: UterineMaps) {
  const { clip, frame } = calibratedClip(label, image);
  const located = cervixOfMaps(drawn);
  const estimate = { label: 'cervix' as const, confidence: 1 };
  const found = measureCervix({ clip, frame, estimate, route: null, located }, null);
  const common = {
    image: label.file,
    confidence: located?.confidence ?? 0,
    accepted: found?.length.quality === 'accepted',
  };
  const length: Measured = {
    ...common,
    referenceMm: label.values.cervicalLengthMm ?? 0,
    measuredMm: found?.length.value ?? null,
  };
  const depth = found?.funnel?.measurements[0]?.value ?? 0;
  return { length, depth, common };
}

function edge(label: Label, drawn: UterineMaps): Measured {
  const found = placentaEdgeOfMaps(drawn);
  const scale = { x: label.mmPerPixel, y: label.mmPerPixel };
  const straight = found && distance(found.edge, found.internalOs, scale);
  return {
    image: label.file,
    referenceMm: label.values.placentaToOsMm ?? 0,
    measuredMm: straight === null ? null : found?.overlaps ? -straight : straight,
    confidence: found?.confidence ?? 0,
    accepted: found?.accepted ?? false,
  };
}

/**
 * Measures every phantom in a folder written by models/phantom/generate.ts, using the product's own
 * code.
 */
export async function evaluateUterusOnPhantoms(
  session: ModelSession,
  folder: string,
): Promise<UterusEvaluation> {
  const all: Label[] = JSON.parse(await readFile(join(folder, 'labels.json'), 'utf8'));
  const labels = all.filter(({ plane }) => PLANES.includes(plane));
  const measured: Record<string, Measured[]> = {};
  const decisions: UterusEvaluation['decisions'] = {};
  const add = (quantity: string, one: Measured) => {
    measured[quantity] = [...(measured[quantity] ?? []), one];
  };
  const decide = (decision: string, right: boolean) => {
    const before = decisions[decision] ?? { right: 0, of: 0 };
    decisions[decision] = { right: before.right + (right ? 1 : 0), of: before.of + 1 };
  };
  for (const label of labels) {
    const image = await readGray(join(folder, label.file));
    const [drawn] = await drawUterineMaps(session, [image]);
    if (!drawn) continue;
    if (label.plane === 'amniotic-fluid') {
      const one = pocket(label, image, drawn);
      if (one.referenceMm > 0) add('pocket', one);
      else decide('no pocket found without a pocket', !one.accepted);
    }
    if (label.values.placentaToOsMm !== undefined) {
      const one = edge(label, drawn);
      add('placentaToOs', one);
      if (one.accepted && Math.abs(one.referenceMm) > UNDECIDED_MM) {
        decide('side of the os', Math.sign(one.measuredMm ?? 0) === Math.sign(one.referenceMm));
      }
    } else if (label.plane === 'cervix') {
      const { length, depth, common } = cervix(label, image, drawn);
      add('cervicalLength', length);
      const reference = label.values.funnelDepthMm ?? 0;
      if (length.accepted)
        decide(reference > 0 ? 'funnel seen' : 'no funnel invented', reference > 0 === depth > 0);
      if (reference > 0 && depth > 0) {
        add('funnelDepth', { ...common, referenceMm: reference, measuredMm: depth });
      }
      const none = placentaEdgeOfMaps(drawn);
      decide('no placental edge invented', !none?.accepted);
    }
    if (label.plane === 'placenta') {
      const body = placentaOfMaps(drawn);
      if (body?.accepted)
        decide('wall of the placenta', body.side === WALLS[label.values.wall ?? -1]);
    }
  }
  return { measured, decisions };
}

/**
 * Counts how many real images without a cervix would be measured if they were treated as a cervix.
 */
export async function acceptedOnOthers(session: ModelSession, cases: readonly Case[]) {
  let cervices = 0;
  let edges = 0;
  for (const { path } of cases) {
    const [drawn] = await drawUterineMaps(session, [await readGray(path)]);
    if (drawn && cervixOfMaps(drawn)?.accepted) cervices += 1;
    if (drawn && placentaEdgeOfMaps(drawn)?.accepted) edges += 1;
  }
  return { images: cases.length, cervicesAccepted: cervices, placentalEdgesAccepted: edges };
}
