import { findingConcept } from '../../result/concepts.ts';
import type { FramePlane } from '../frame-plane.ts';
import { keyFrame, MEASURING_PLANES } from '../key-frames.ts';
import { PLANES, type Plane } from '../locator.ts';
import { keyFrameQuality } from '../plane-quality.ts';
import { describedPlane, type PlanesData } from '../planes-data.ts';
import type { ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';

export const PLANE_LABELS: Readonly<Record<Plane, string>> = {
  transthalamic: 'transthalamic head',
  transventricular: 'transventricular head',
  transcerebellar: 'transcerebellar head',
  abdominal: 'abdominal circumference plane',
  femur: 'femur',
  thorax: 'thorax',
  cervix: 'maternal cervix',
  other: 'other',
  midsagittal: 'first-trimester mid-sagittal fetus',
  transperineal: 'transperineal mid-sagittal',
  'early-pregnancy': 'early pregnancy',
  'amniotic-fluid': 'amniotic fluid',
  placenta: 'placenta',
  'four-chamber': 'four-chamber view',
};

/** What biometry needs, by structure: one of its planes. */
const BIOMETRY_PLANES = Object.values(MEASURING_PLANES).map((tiers) => tiers.flat());

function list(planes: readonly Plane[]): string {
  return planes.map((plane) => PLANE_LABELS[plane]).join(', ');
}

function classification(key: FramePlane, index: number) {
  const { file, frame, plane, confidence } = describedPlane(key);
  return {
    id: `plane-${index + 1}`,
    section: 'planes',
    concept: findingConcept('standard-plane'),
    name: `Plane of ${file}, frame ${frame}`,
    value: plane,
    scheme: 'ISUOG standard planes',
    criteria: [{ name: 'confidence', value: confidence.toFixed(2), met: true }],
  };
}

function run({ planes, readings }: ObstetricEvidence): SectionOutcome {
  if (!planes) {
    const detail = 'No model for planes is permitted by the configuration.';
    return {
      status: 'not_assessed',
      reason: { code: 'no_model', detail, needs: ['a permitted plane model'] },
      summary: detail,
    };
  }
  const standard = PLANES.filter((plane) => plane !== 'other');
  const keys = standard.flatMap((plane) => keyFrame(planes, plane) ?? []);
  const found = keys.map(({ estimate }) => estimate.label);
  const missing = BIOMETRY_PLANES.filter((group) => !group.some((plane) => found.includes(plane)));
  const missingText = missing.map((group) => list(group.slice(0, 1))).join(', ');
  const summary = [
    `Planes found: ${list(found) || 'none'}.`,
    ...(missing.length > 0 ? [`Planes needed for biometry and not found: ${missingText}.`] : []),
  ].join(' ');
  const counts = Object.fromEntries(
    PLANES.map((plane) => [
      plane,
      planes.filter(({ estimate }) => estimate.label === plane).length,
    ]),
  ) as Record<Plane, number>;
  return {
    status: keys.length === 0 ? 'inadequate' : missing.length > 0 ? 'partial' : 'complete',
    reason:
      missing.length === 0
        ? null
        : {
            code: keys.length === 0 ? 'no_standard_plane' : 'planes_missing',
            detail: `Planes needed for biometry and not found: ${missingText}.`,
            needs: missing.map((group) => list(group.slice(0, 1))),
          },
    summary,
    data: {
      counts,
      key_frames: keys.map((key) => ({
        ...describedPlane(key),
        quality: keyFrameQuality(key, readings),
      })),
      frames: planes.map(describedPlane),
    } satisfies PlanesData,
    classifications: keys.map(classification),
  };
}

export const planes: ObstetricSection = {
  id: 'planes',
  title: 'Standard planes',
  needs: ['2D images'],
  run,
};
