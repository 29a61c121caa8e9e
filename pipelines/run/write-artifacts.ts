import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Paper } from '../../config/schema.ts';
import { freeMemory } from '../../src/platform/free-memory.ts';
import { inParallel } from '../../src/platform/in-parallel.ts';
import { writeDisplay } from '../artifacts/display/write-display.ts';
import { bullsEye } from '../artifacts/drawing/bulls-eye.ts';
import { toPng } from '../artifacts/drawing/draw.ts';
import { growthChart, renderGrowthChart } from '../artifacts/drawing/growth-chart.ts';
import type { GrowthCurve } from '../artifacts/drawing/growth-curve.ts';
import { renderReport } from '../artifacts/pdf/report.ts';
import {
  captionOf,
  keyOverlays,
  overlaysOf,
  type PreviewOverlay,
} from '../artifacts/previews/overlays.ts';
import { contentOf, renderPreview } from '../artifacts/previews/preview.ts';
import { PICTURES_AT_ONCE } from '../artifacts/previews/raster.ts';
import { createShownFrames, type ShownFrames } from '../artifacts/previews/shown-frames.ts';
import { renderViewOverview } from '../artifacts/previews/view-overview.ts';
import { buildSegmentations } from '../artifacts/seg/segmentation.ts';
import { buildTid1500 } from '../artifacts/sr/tid1500.ts';
import { buildTid5000 } from '../artifacts/sr/tid5000.ts';
import { buildTid5200 } from '../artifacts/sr/tid5200.ts';
import { buildTid5300 } from '../artifacts/sr/tid5300.ts';
import { objectFits } from '../contract/object-endpoints.ts';
import type { Study } from '../contract/study.ts';
import type { Subject } from '../dicom/subject.ts';
import { earlierValues } from '../result/earlier-values.ts';
import type { ArtifactEntry, Result } from '../result/envelope.ts';

/** An artifact built by code in another folder, such as the FHIR bundle. */
export interface ExtraArtifact {
  name: string;
  mediaType: string;
  build(result: Result, subject: Subject): Buffer | string | Promise<Buffer | string>;
}

export interface ArtifactInput {
  result: Result;
  subject: Subject;
  /** The study. Its measured frames are decoded again for the previews. */
  study: Study;
  /** Folder for the files; created if it does not exist. */
  folder: string;
  /** Charts for the growth panels; empty for an endpoint without any. */
  curves: readonly GrowthCurve[];
  /**
   * If false, no picture of the study is produced: no preview, neither as a file nor in the report,
   * no overview of the views, and nothing for viewers (`options.previews`).
   */
  previews?: boolean;
  /**
   * If false, key frames, cines and `overlays.json` are not written. Viewers such as the console
   * display them.
   */
  display?: boolean;
  paper?: Paper;
  /** Source of the frames. By default, parts that may show a name are black. */
  shown?: ShownFrames;
  /** The previews that `writeEarlyPreviews` has written into the folder. */
  drawn?: DrawnPreviews;
  extra?: readonly ExtraArtifact[];
  written?: Written;
}

/**
 * Called for each artifact as soon as it is written. The caption describes a picture; it is null
 * for other artifacts.
 */
type Written = (entry: ArtifactEntry, caption: string | null) => void;

/** What each preview written so far shows, by the name of the preview. */
type DrawnPreviews = ReadonlyMap<string, string>;

const shownOn = ({ file, frame, measurements }: PreviewOverlay): string =>
  JSON.stringify([file, frame, contentOf(measurements)]);

interface RenderedOverlay extends PreviewOverlay {
  png: Buffer;
}

async function renderOverlays(
  {
    study,
    result,
    folder,
    previews,
    drawn: before,
    isWanted = () => true,
  }: Pick<ArtifactInput, 'study' | 'result' | 'folder' | 'previews' | 'drawn'> & {
    isWanted?: (overlay: PreviewOverlay) => boolean;
  },
  shown: ShownFrames,
  rendered: (overlay: RenderedOverlay) => Promise<void>,
): Promise<RenderedOverlay[]> {
  if (previews === false) return [];
  const render = async (overlay: PreviewOverlay): Promise<RenderedOverlay[]> => {
    const clip = study.clips.find(({ file }) => file === overlay.file);
    if (!clip?.frames[overlay.frame - 1]) return [];
    if (before?.get(overlay.name) === shownOn(overlay)) {
      return [{ ...overlay, png: await readFile(join(folder, overlay.name)) }];
    }
    const frame = await shown.frame(clip, overlay.frame);
    if (!frame) return [];
    const png = await renderPreview(frame, overlay.measurements);
    freeMemory([frame.data]);
    return [{ ...overlay, png }];
  };
  const overlays = overlaysOf(result.measurements).filter(isWanted);
  const drawn: RenderedOverlay[] = [];
  for (let start = 0; start < overlays.length; start += PICTURES_AT_ONCE) {
    const batch = await Promise.all(overlays.slice(start, start + PICTURES_AT_ONCE).map(render));
    for (const overlay of batch.flat()) {
      drawn.push(overlay);
      await rendered(overlay);
    }
  }
  return drawn;
}

/** Writes one artifact into the folder and records its entry. */
type Write = (
  name: string,
  mediaType: string,
  content: Buffer | string,
  section?: string | null,
  caption?: string,
) => Promise<void>;

/** Writes some of the artifacts, one after another. All parts run in parallel. */
type Part = (write: Write) => Promise<void>;

async function writeCharts(
  { result, subject, study, previews, curves }: ArtifactInput,
  shown: ShownFrames,
  write: Write,
): Promise<void> {
  const { dating } = subject;
  const chart =
    dating && growthChart(curves, result.measurements, dating.gaDays, earlierValues(result));
  if (chart) {
    const png = await renderGrowthChart(chart);
    await write('growth-chart.png', 'image/png', png, 'growth', 'Growth chart');
  }
  const strain = bullsEye(result);
  if (strain) {
    const png = await toPng(strain, 2);
    await write('bullseye.png', 'image/png', png, 'lv-strain', 'Longitudinal strain by segment');
  }
  const sheet = previews === false ? null : await renderViewOverview(result, study, shown);
  if (sheet) await write('view-overview.png', 'image/png', sheet, 'views', 'Views of the clips');
}

async function writeForViewers(
  { result, subject, study, previews, display, curves }: ArtifactInput,
  shown: ShownFrames,
  write: Write,
): Promise<void> {
  if (previews === false || display === false) return;
  const gaDays = subject.dating?.gaDays ?? null;
  await writeDisplay({ result, study, shown, gaDays, curves }, write);
}

interface Document {
  name: string;
  mediaType: string;
  content: Buffer | string;
}

const writeOverlay = (overlay: RenderedOverlay, write: Write) =>
  write(overlay.name, 'image/png', overlay.png, overlay.section, captionOf(overlay));

/**
 * Writes the previews of an incomplete result. They have the same names as those of the complete
 * result, which overwrite them.
 * @param input.drawn what each preview shows so far. A preview is redrawn only if this has changed.
 */
export async function writeEarlyPreviews(
  {
    shown,
    drawn,
    ...input
  }: Pick<ArtifactInput, 'result' | 'study' | 'folder'> & {
    shown: ShownFrames;
    drawn: Map<string, string>;
  },
  written: Written,
): Promise<void> {
  await mkdir(input.folder, { recursive: true });
  const write = writerInto(input.folder, written);
  await renderOverlays(
    { ...input, isWanted: (overlay) => drawn.get(overlay.name) !== shownOn(overlay) },
    shown,
    async (overlay) => {
      await writeOverlay(overlay, write);
      drawn.set(overlay.name, shownOn(overlay));
    },
  );
}

/** Returns a function that writes an artifact into a folder and reports it to `written`. */
function writerInto(folder: string, written: Written): Write {
  return async (name, mediaType, content, section = null, caption) => {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    await writeFile(join(folder, name), bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const entry = { name, media_type: mediaType, bytes: bytes.length, sha256, section };
    written(entry, caption ?? null);
  };
}

/** Builds the structured reports and segmentations of a result, and the artifacts in `extra`. */
export async function buildDocuments(
  result: Result,
  subject: Subject,
  extra: readonly ExtraArtifact[],
): Promise<Document[]> {
  const dicom = (name: string, content: Buffer): Document => ({
    name,
    mediaType: 'application/dicom',
    content,
  });
  const documents = [dicom('sr-tid1500.dcm', buildTid1500(result, subject))];
  if (objectFits('sr-echo', result.endpoint)) {
    documents.push(dicom('sr-tid5200.dcm', buildTid5200(result, subject)));
    documents.push(dicom('sr-tid5300.dcm', buildTid5300(result, subject)));
  }
  if (objectFits('sr-tid5000', result.endpoint)) {
    documents.push(dicom('sr-tid5000.dcm', buildTid5000(result, subject)));
  }
  for (const [index, bytes] of buildSegmentations(result, subject, 'binary').entries()) {
    documents.push(dicom(`seg-${index + 1}.dcm`, bytes));
  }
  for (const { name, mediaType, build } of extra) {
    documents.push({ name, mediaType, content: await build(result, subject) });
  }
  return documents;
}

/**
 * Returns the parts in the order of their entries. They run in parallel, because sharp draws on its
 * own threads. The documents wait for the previews, which are reported as soon as they are drawn.
 */
function partsOf(input: ArtifactInput): Part[] {
  const { result, subject, curves, paper, shown = createShownFrames() } = input;
  const previews = Promise.withResolvers<RenderedOverlay[]>();
  return [
    async (write) => {
      const drawn = renderOverlays(input, shown, (overlay) => writeOverlay(overlay, write));
      // An error must also reach the parts that wait for the previews.
      previews.resolve(drawn);
      await drawn;
    },
    (write) => writeCharts(input, shown, write),
    (write) => writeForViewers(input, shown, write),
    async (write) => {
      const overlays = keyOverlays(await previews.promise);
      const report = await renderReport(result, subject, overlays, curves, paper);
      await write('report.pdf', 'application/pdf', report);
    },
    async (write) => {
      await previews.promise;
      for (const one of await buildDocuments(result, subject, input.extra ?? [])) {
        await write(one.name, one.mediaType, one.content);
      }
    },
  ];
}

/**
 * Writes every artifact of a result into `folder`, under the names in the HTTP contract:
 * `overlay-<section>-<n>.png`, `growth-chart.png`, `bullseye.png`, `view-overview.png`,
 * `report.pdf`, `key-frame-<n>.jpg`, `cine-<n>.mjpeg`, `overlays.json`, the SR documents,
 * `seg-<n>.dcm` and `extra`. Artifacts without content are not written: without a centile there is
 * no chart, and without a caliper no overlay.
 * @returns the entries for `result.artifacts`, always in the same order.
 */
export async function writeArtifacts(input: ArtifactInput): Promise<ArtifactEntry[]> {
  const { folder } = input;
  await mkdir(folder, { recursive: true });
  const parts = partsOf(input);
  const written = await inParallel(parts, parts.length, async (part) => {
    const entries: ArtifactEntry[] = [];
    await part(
      writerInto(folder, (entry, caption) => {
        entries.push(entry);
        input.written?.(entry, caption);
      }),
    );
    return entries;
  });
  return written.flat();
}
