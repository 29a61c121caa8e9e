import { inParallel } from '../../src/platform/in-parallel.ts';
import type { Clip, PriorReport, RefusedFile, Study } from '../contract/study.ts';
import { UnreadableInput } from '../contract/study.ts';
import { measuredInPicture } from '../measure/picture.ts';
import { unpack } from './archives.ts';
import type { ReadReport } from './cart-sr/read-report.ts';
import { withoutRepeats } from './cart-sr/repeats.ts';
import { DECODING } from './decode-frames.ts';
import { secondsFromFirst } from './dicom/acquisition-time.ts';
import { takeDicomdirs } from './dicom/dicomdir.ts';
import { type ReadClip, withoutDuplicates } from './duplicates.ts';
import { CONTAINER_LIMITS } from './limits.ts';
import { readFile } from './read-file.ts';
import { published } from './reading.ts';
import type { StudyFile } from './study-file.ts';

interface ReadOptions {
  /**
   * Returns the user's scale, in millimetres per pixel, for an image that has none. Null if the
   * user entered no scale.
   */
  mmPerPx?: (file: string) => number | null;
  /** Folder for the contents of archives. Without it, archives are not opened. */
  unpackTo?: string | undefined;
  /** Files of earlier examinations. They become `Study.priors`. */
  priors?: readonly StudyFile[] | undefined;
  /**
   * Names of files that an earlier run could not finish reading. They are refused without being
   * read.
   */
  unreadable?: readonly string[] | undefined;
  /**
   * Stops reading between two files or within an archive. The reason of the signal is then thrown.
   */
  signal?: AbortSignal | undefined;
}

const TOO_SLOW = 'reading the file, or decoding one of its frames, took too long';

/**
 * Wraps a clip so that the decoding of each frame is published (reading.ts). Reports are returned
 * unchanged.
 */
function watched(read: ReadClip | ReadReport, name: string): ReadClip | ReadReport {
  if (!('clip' in read)) return read;
  const frames = read.clip.frames.map((frame) => ({
    ...frame,
    gray: () => published(name, frame.gray),
    rgb: () => published(name, frame.rgb),
  }));
  return { ...read, clip: { ...read.clip, frames } };
}

interface ReadFiles {
  clips: ReadClip[];
  reports: ReadReport[];
  refused: RefusedFile[];
  files: number;
}

async function readFiles(
  given: readonly StudyFile[],
  { mmPerPx, unpackTo, unreadable = [], signal }: ReadOptions,
): Promise<ReadFiles> {
  const unpacked = unpackTo
    ? await unpack(given, unpackTo, CONTAINER_LIMITS, signal)
    : { files: given, refused: [] };
  const { files, missing } = await takeDicomdirs(unpacked.files);
  const clips: ReadClip[] = [];
  const reports: ReadReport[] = [];
  const refused: RefusedFile[] = [...unpacked.refused, ...missing];
  const readOrRefusal = async (file: StudyFile) => {
    signal?.throwIfAborted();
    if (unreadable.includes(file.name)) return new UnreadableInput(TOO_SLOW);
    try {
      return watched(
        await published(file.name, () => readFile(file, mmPerPx?.(file.name) ?? null)),
        file.name,
      );
    } catch (error) {
      if (error instanceof UnreadableInput) return error;
      throw error;
    }
  };
  for (const [index, read] of (await inParallel(files, DECODING.files, readOrRefusal)).entries()) {
    const file = files[index]?.name ?? '';
    if (read instanceof UnreadableInput) refused.push({ file, reason: read.message });
    else if ('values' in read) reports.push(read);
    else {
      clips.push(read);
      if (read.remark) refused.push({ file, reason: read.remark, read: true });
    }
  }
  return { clips, reports, refused, files: files.length + unpacked.refused.length };
}

function placed(read: readonly ReadClip[], instants: readonly (number | null)[]): Clip[] {
  return read.map(({ clip }, index) =>
    measuredInPicture({ ...clip, instant: instants[index] ?? null }),
  );
}

/** Returns the reports written by the machine. Drafts written by this gateway are refused. */
function ofMachine(reports: readonly ReadReport[]) {
  const reason = 'the structured report is a draft of this gateway, not of the machine';
  return {
    cart: withoutRepeats(reports.flatMap(({ draft, values }) => (draft ? [] : values))),
    refused: reports.flatMap(({ draft, file }) => (draft ? [{ file, reason }] : [])),
  };
}

function priorReports(
  reports: readonly ReadReport[],
  instants: readonly (number | null)[],
): PriorReport[] {
  return reports.map(({ file, draft, values }, index) => ({
    file,
    instant: instants[index] ?? null,
    draft,
    values,
  }));
}

/**
 * Reads every file of a study, including files in archives and DICOMDIR sets. A file that is
 * unreadable or a duplicate is refused with a sentence, and the other files are still read. Only an
 * error of this host (a missing file, a full disk) is thrown. A file from an earlier examination is
 * not used as a prior if it duplicates an image of the study.
 */
export async function readStudy(
  given: readonly StudyFile[],
  options: ReadOptions = {},
): Promise<Study> {
  const current = await readFiles(given, options);
  const before = await readFiles(options.priors ?? [], {
    ...options,
    ...(options.unpackTo && { unpackTo: `${options.unpackTo}-priors` }),
  });
  const { kept, refused } = await withoutDuplicates([...current.clips, ...before.clips]);
  const ofStudy = new Set(current.clips);
  const clips = kept.filter((read) => ofStudy.has(read));
  const priors = kept.filter((read) => !ofStudy.has(read));
  const { cart, refused: drafts } = ofMachine(current.reports);
  const instants = secondsFromFirst(
    clips.map(({ taken }) => taken),
    [...priors.map(({ taken }) => taken), ...before.reports.map(({ examined }) => examined)],
  );
  const series = new Set(clips.map(({ clip }) => clip.seriesInstanceUid ?? ''));
  const studies = new Set(clips.flatMap(({ study }) => study ?? []));
  return {
    clips: placed(clips, instants.current),
    refused: [...current.refused, ...drafts, ...before.refused, ...refused],
    files: current.files,
    series: series.size,
    ...(studies.size > 1 && { studies: studies.size }),
    ...(priors.length > 0 && { priors: placed(priors, instants.priors) }),
    ...(before.reports.length > 0 && {
      priorReports: priorReports(before.reports, instants.priors.slice(priors.length)),
    }),
    ...(cart.length > 0 && { cart }),
  };
}
