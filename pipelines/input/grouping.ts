import type { Clip, Rectangle } from '../contract/study.ts';

/** Images of one series that follow each other faster than this show one position of the probe. */
export const RUN_GAP_SECONDS = 60;

/** Clips of one run: stills and cines of one series, taken one after the other with one geometry. */
export type Run = readonly Clip[];

function areaKey({ minX, minY, maxX, maxY }: Rectangle): string {
  return [minX, minY, maxX, maxY].join(',');
}

/** What stays the same as long as nobody turns a knob: size of the frame, regions and their scale. */
function geometryKey({ width, height, regions, sweeps }: Clip): string {
  const scales = regions.map(({ area, scale }) => `${areaKey(area)}@${scale.x}x${scale.y}`);
  const traces = sweeps.map(({ kind, area }) => `${kind}${areaKey(area)}`);
  return [`${width}x${height}`, ...scales, ...traces].join(';');
}

/** By the time it was taken, then by the number that the cart gave, then as the files came. */
export function inAcquisitionOrder(clips: readonly Clip[]): Clip[] {
  const last = Number.POSITIVE_INFINITY;
  const by = (a: number | null, b: number | null) => {
    const [x, y] = [a ?? last, b ?? last];
    return x === y ? 0 : x - y;
  };
  return clips.toSorted(
    (a, b) => by(a.instant, b.instant) || by(a.instanceNumber, b.instanceNumber),
  );
}

/** Seconds between the end of one clip and the start of the next; null where a time is missing. */
function pause(before: Clip, next: Clip): number | null {
  if (before.instant === null || next.instant === null) return null;
  return next.instant - before.instant - (before.frames.at(-1)?.time ?? 0);
}

function splitByTime(clips: readonly Clip[]): Clip[][] {
  const runs: Clip[][] = [];
  for (const clip of clips) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    const gap = before ? pause(before, clip) : null;
    if (run && (gap === null || gap <= RUN_GAP_SECONDS)) run.push(clip);
    else runs.push([clip]);
  }
  return runs;
}

/**
 * The runs of a study, by series, geometry and time, each in the order of acquisition. Without times
 * the images of one series and geometry are one run. A file without a series is a run of its own.
 */
export function runsOf(clips: readonly Clip[]): Run[] {
  const [inSeries, alone] = [
    clips.filter(({ seriesInstanceUid }) => seriesInstanceUid !== null),
    clips.filter(({ seriesInstanceUid }) => seriesInstanceUid === null),
  ];
  const groups = Map.groupBy(
    inAcquisitionOrder(inSeries),
    (clip) => `${clip.seriesInstanceUid} ${geometryKey(clip)}`,
  );
  return [...[...groups.values()].flatMap(splitByTime), ...alone.map((clip) => [clip])];
}
