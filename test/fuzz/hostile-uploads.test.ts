import { describe, expect, it } from 'vitest';
import { readStudy } from '../../pipelines/input/read-study.ts';
import { zipOf } from '../pipelines/input/archive-sample.ts';
import { dicomFile, SYNTAX, ultrasound } from '../pipelines/input/dicom-sample.ts';
import { onDisk } from '../pipelines/input/on-disk.ts';
import { temporaryFolder } from '../pipelines/temporary-folder.ts';
import { hostileObjects } from './hostile-objects.ts';

/**
 * The objects that the listener refuses, here uploaded by a client. The gateway stores them unread,
 * and the pipeline reads them in a child process with limited memory.
 */

const OBJECT = 'HOSTILE.DCM';
const IMAGE = 'IMAGE.DCM';

/** Still beyond every limit of the pipeline, but quick to compress. */
const PART = 1 / 4;

/**
 * The refused objects with their reasons; all others are read. The pipeline needs fewer attributes
 * than the listener and skips the rest by their length. In an archive, only the entries before a
 * bomb are read.
 */
const REFUSED: Readonly<Record<string, string>> = {
  '200,000 nested sequences': 'nested too deeply',
  '200,000 nested sequences that never end': 'nested too deeply',
  'a million empty elements': 'too many elements',
  'a deflated million of empty elements': 'too many elements',
  'a deflate bomb of 256 MB before the study': 'unpacks to more than 200 times its size',
  'a deflate bomb of 256 MB of pixels': 'unpacks to more than 200 times its size',
};

const directory = dicomFile(SYNTAX.explicit, [
  ['00041130', 'CS', 'SET'],
  [
    '00041220',
    'SQ',
    [OBJECT, IMAGE].map((name): [string, string, string][] => [
      ['00041430', 'CS', 'IMAGE'],
      ['00041500', 'CS', name],
    ]),
  ],
]);

async function read(files: Readonly<Record<string, Buffer>>) {
  const study = await readStudy(await onDisk(files), { unpackTo: await temporaryFolder() });
  return {
    clips: study.clips.map(({ file }) => file.split('/').at(-1)),
    refused: study.refused.map(({ reason }) => reason),
  };
}

const WAYS = {
  'as a file': (files: Record<string, Buffer>) => files,
  'in a zip': (files: Record<string, Buffer>) => ({ 'study.zip': zipOf(files) }),
  'in a zip with a DICOMDIR that lists it': (files: Record<string, Buffer>) => ({
    'disc.zip': zipOf({ ...files, DICOMDIR: directory }),
  }),
};

describe.each(Object.entries(WAYS))('an upload %s', (_, packed) => {
  it.each(hostileObjects('1.2.840.103', PART))(
    'with $name does not prevent the other image from being read',
    async ({ name, bytes }) => {
      const { clips, refused } = await read(packed({ [IMAGE]: ultrasound(), [OBJECT]: bytes }));
      const reason = REFUSED[name];
      expect(clips.toSorted()).toEqual(reason === undefined ? [OBJECT, IMAGE] : [IMAGE]);
      expect(refused).toEqual(reason === undefined ? [] : [expect.stringContaining(reason)]);
    },
  );
});
