import { z } from 'zod';
import type { Ellipse, GrayImage, Point } from '../../contract/image.ts';
import { type Placement, toSource } from '../../inference/letterbox.ts';
import { mirroredMaps } from '../../inference/mirrored-maps.ts';
import { type RegisteredModel, readMetrics } from '../../inference/model-registry.ts';
import type { ModelSession } from '../../inference/session.ts';
import { extent } from '../../measure/ellipse.ts';
import { centreOfMass, highestPeaks } from '../../measure/peaks.ts';
import type { SoftMask } from '../../measure/soft-mask.ts';
import { outlineOfMask } from '../shared/outline.ts';
import type { ChestUncertainty, LocatedChest, LocatedSeptum } from './evidence.ts';

/**
 * Maximum angle in degrees between the septum and the long axis of the heart. If it is exceeded,
 * one of the two was located wrongly.
 */
const SEPTUM_ALONG_HEART = 25;

/**
 * Minimum ratio of the shorter to the longer axis of a thorax. Below it, the section is oblique and
 * is not measured.
 */
const LOWEST_AXIS_RATIO = 0.7;

const halfWidth = z.number().positive().nullable().default(null);
const metricsSchema = z.looseObject({
  halfWidths95: z.object({
    areaRatio: halfWidth,
    circumferenceRatio: halfWidth,
    axisDegrees: halfWidth,
  }),
});

/**
 * Reads the half widths of 95 % intervals, measured on unseen phantoms. Two are for ratios, one for
 * an angle in degrees.
 */
export async function chestUncertainty(model: RegisteredModel): Promise<ChestUncertainty> {
  return metricsSchema.parse(await readMetrics(model)).halfWidths95;
}

/**
 * Locates heart and thorax on each image with the model `fetal-heart-structures`; null if either is
 * missing.
 */
export async function locateChest(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<(LocatedChest | null)[]> {
  const found = await mirroredMaps(session, images);
  return found.map(({ placement, map }, n) => {
    const gate = session.model.gate;
    const thorax = outlineOfMask(map('thorax'), placement, gate);
    const heart = outlineOfMask(map('heart'), placement, gate);
    const image = images[n];
    if (!thorax || !heart || !image) return null;
    const whole =
      isWithin(thorax.ellipse, image) &&
      isWithin(heart.ellipse, image) &&
      thorax.ellipse.b >= LOWEST_AXIS_RATIO * thorax.ellipse.a &&
      isInside(thorax.ellipse, heart.ellipse.centre);
    return {
      heart: heart.ellipse,
      thorax: thorax.ellipse,
      confidence: Math.min(thorax.confidence, heart.confidence),
      accepted: thorax.accepted && heart.accepted && whole,
      septum: septumOf(
        { crux: map('crux'), apex: map('apex'), spine: map('spine') },
        heart.ellipse,
        placement,
        session.model.class_gates?.septum ?? gate,
      ),
    };
  });
}

/**
 * Returns true if an outline lies entirely on the image. The course of an outline beyond the edge
 * would be a guess.
 */
function isWithin(ellipse: Ellipse, { width, height }: GrayImage): boolean {
  const [low, high] = extent(ellipse);
  return low.x >= 0 && low.y >= 0 && high.x <= width - 1 && high.y <= height - 1;
}

function isInside({ centre, a, b, angle }: Ellipse, { x, y }: Point): boolean {
  const dx = x - centre.x;
  const dy = y - centre.y;
  const u = (dx * Math.cos(angle) + dy * Math.sin(angle)) / a;
  const v = (dy * Math.cos(angle) - dx * Math.sin(angle)) / b;
  return u * u + v * v <= 1;
}

function septumOf(
  maps: Record<'crux' | 'apex' | 'spine', SoftMask>,
  heart: Ellipse,
  placement: Placement,
  gate: number,
): LocatedSeptum | null {
  const [crux] = highestPeaks(maps.crux, 1);
  const [apex] = highestPeaks(maps.apex, 1);
  const [spine] = highestPeaks(maps.spine, 1);
  if (!crux || !apex || !spine) return null;
  // The least certain point determines the confidence, because one misplaced point is enough to
  // make the angle wrong.
  const confidence = Math.min(crux.value, apex.value, spine.value);
  const from = toSource(placement, centreOfMass(maps.crux, crux));
  const to = toSource(placement, centreOfMass(maps.apex, apex));
  return {
    crux: from,
    apex: to,
    spine: toSource(placement, centreOfMass(maps.spine, spine)),
    confidence,
    accepted: confidence >= gate && degreesOff(from, to, heart.angle) <= SEPTUM_ALONG_HEART,
  };
}

/**
 * Returns the angle in degrees between a line and an axis. The two directions of the axis are
 * equivalent.
 */
function degreesOff(from: Point, to: Point, axis: number): number {
  const turn = Math.atan2(to.y - from.y, to.x - from.x) - axis;
  return (Math.abs(Math.atan(Math.tan(turn))) * 180) / Math.PI;
}
