import { posix } from 'node:path';
import { inParallel } from '../../../src/platform/in-parallel.ts';
import type { RefusedFile } from '../../contract/study.ts';
import { UnreadableInput } from '../../contract/study.ts';
import { DECODING } from '../decode-frames.ts';
import { LIMITS } from '../limits.ts';
import type { StudyFile } from '../study-file.ts';
import { type ByteSource, withByteSource } from '../study-file.ts';
import {
  type DataSet,
  type Element,
  elementAt,
  openDataSet,
  passValue,
  readDicomHeader,
  textOf,
  walkSequence,
} from './header.ts';

/**
 * Tags of the Directory Record Sequence and of the attributes read from its records (PS3.3
 * F.3.2.2).
 */
const DIRECTORY_GROUP = 0x0004;
const DIRECTORY_RECORD_SEQUENCE = 0x00041220;
const REFERENCED_FILE_ID = 0x00041500;
const REFERENCED_SOP_INSTANCE_UID = 0x00041511;

interface ListedFile {
  /** Path relative to the DICOMDIR's folder, with `/` between its components. */
  path: string;
  sopInstanceUid: string;
}

/** The files that remain to be read as images, and the missing files that a DICOMDIR lists. */
interface DicomdirSets {
  files: StudyFile[];
  missing: RefusedFile[];
}

function textValue({ walk }: DataSet, element: Element): string {
  if (element.length > LIMITS.valueBytes)
    throw new UnreadableInput('a value of the DICOMDIR is too long');
  const bytes = walk.source.read(element.valueOffset, element.length);
  return bytes
    .toString('latin1')
    .replaceAll(/[^ -~]/g, '')
    .trim();
}

function readRecords(dataSet: DataSet, sequence: Element): ListedFile[] {
  const records = new Map<number, ListedFile>();
  walkSequence(dataSet.walk, sequence, dataSet.encoding, 1, (item, element) => {
    const record = records.get(item) ?? { path: '', sopInstanceUid: '' };
    if (element.tag === REFERENCED_FILE_ID) {
      // Some writers pad a name component with spaces (PS3.10 8.2).
      const components = textValue(dataSet, element).split('\\');
      record.path = components.map((component) => component.trim()).join('/');
    } else if (element.tag === REFERENCED_SOP_INSTANCE_UID) {
      record.sopInstanceUid = textValue(dataSet, element);
    } else {
      return;
    }
    records.set(item, record);
  });
  return [...records.values()].filter(({ path }) => path !== '');
}

/**
 * Returns the files listed in a DICOMDIR (PS3.10 8.6); null if `source` is not a DICOMDIR. A
 * DICOMDIR begins with group 0004, and no image does.
 *
 * @throws UnreadableInput if the directory cannot be parsed.
 */
function readDicomdir(source: ByteSource): ListedFile[] | null {
  if (source.size < 140) return null;
  if (source.read(128, 4).toString('latin1') !== 'DICM') return null;
  const dataSet = openDataSet(source);
  let listed: ListedFile[] | null = null;
  let offset = dataSet.start;
  while (offset < source.size) {
    const element = elementAt(dataSet.walk, offset, dataSet.encoding);
    if (element.tag >>> 16 !== DIRECTORY_GROUP) break;
    listed ??= [];
    if (element.tag === DIRECTORY_RECORD_SEQUENCE) listed = readRecords(dataSet, element);
    offset = passValue(dataSet.walk, element, dataSet.encoding, 0);
  }
  return listed;
}

/**
 * Returns the files listed in a DICOMDIR; null if the file is not a readable DICOMDIR. A damaged
 * file is refused later, when it is read as an image.
 */
async function directoryOf(file: StudyFile): Promise<ListedFile[] | null> {
  try {
    return await withByteSource(file.path, readDicomdir);
  } catch (error) {
    if (error instanceof UnreadableInput) return null;
    throw error;
  }
}

/**
 * Returns the SOP Instance UID of a file, or '' if the file is not readable DICOM. Such a file is
 * refused later, when it is read as an image.
 */
async function sopInstanceUid(file: StudyFile): Promise<string> {
  return withByteSource(file.path, (source) => {
    try {
      return textOf(readDicomHeader(source), 'SOPInstanceUID');
    } catch (error) {
      if (error instanceof UnreadableInput) return '';
      throw error;
    }
  });
}

const MISSING = 'the DICOMDIR lists this file, but it was not received with the study';

/** Case is ignored, because media are written in upper case and often copied in lower case. */
const folded = (name: string) => name.toUpperCase();

/**
 * Returns the listed files that are missing. A file is looked up by its path relative to its
 * DICOMDIR or, if the folders were lost in transfer (uploads have no folders), by its SOP Instance
 * UID.
 */
async function missingFiles(
  listed: ReadonlyMap<string, ListedFile>,
  files: readonly StudyFile[],
): Promise<RefusedFile[]> {
  const names = new Set(files.map(({ name }) => folded(name)));
  const notByPath = [...listed].filter(([name]) => !names.has(folded(name)));
  if (notByPath.length === 0) return [];
  const uids = new Set(await inParallel(files, DECODING.files, sopInstanceUid));
  uids.delete('');
  return notByPath
    .filter(([, file]) => !uids.has(file.sopInstanceUid))
    .map(([name]) => ({ file: name, reason: MISSING }));
}

/**
 * Returns the files other than DICOMDIRs, whether or not a DICOMDIR lists them, and reports which
 * listed files are missing.
 */
export async function takeDicomdirs(files: readonly StudyFile[]): Promise<DicomdirSets> {
  const directories = await inParallel(files, DECODING.files, directoryOf);
  const others = files.filter((_, index) => !directories[index]);
  const listed = new Map<string, ListedFile>();
  for (const [index, file] of files.entries()) {
    for (const record of directories[index] ?? []) {
      listed.set(posix.join(posix.dirname(file.name), record.path), record);
    }
  }
  return { files: others, missing: await missingFiles(listed, others) };
}
