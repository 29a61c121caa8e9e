import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { dicomObjects } from '../../../pipelines/artifacts/dicom-objects.ts';
import {
  buildSegmentation,
  type SegmentationForm,
} from '../../../pipelines/artifacts/seg/segmentation.ts';
import { INTERGROWTH_CURVES } from '../../../pipelines/obstetric/growth/curves.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { ECHO, echoValue } from './example-echo.ts';
import { HC } from './example-measurements.ts';
import { RESULT } from './example-result.ts';
import { SUBJECT } from './example-subject.ts';
import { asFile, PYTHON } from './programs.ts';
import { cine } from './seg/example-cine.ts';

/**
 * Includes the folder into which `.ci/run` installs highdicom, which is separate from Debian's
 * older pydicom.
 */
const env = {
  ...process.env,
  PYTHONPATH: fileURLToPath(new URL('../../../.ci/highdicom', import.meta.url)),
};
const python = (script: string, args: readonly string[] = []) =>
  spawnSync(PYTHON, ['-c', script, ...args], { env, encoding: 'utf8', timeout: 120_000 });
const INSTALLED = python('import highdicom').status === 0;

const READ = `
import sys, json, pydicom, highdicom as hd
answers = []
for path in sys.argv[1:]:
    try:
        if pydicom.dcmread(path, specific_tags=['Modality']).Modality == 'SR':
            document = hd.sr.srread(path)
            answers.append({'items': len(document.ContentSequence), 'title': document.ConceptNameCodeSequence[0].CodeMeaning})
            continue
        seg = hd.seg.segread(path)
        uid, frames = list({r[2] for r in seg.get_source_image_uids()})[0], []
        for frame in sorted({int(f.FrameLabel.split()[-1]) for c in seg.PerFrameFunctionalGroupsSequence for f in c.FrameContentSequence}):
            pixels = seg.get_pixels_by_source_frame(uid, [frame], combine_segments=False, assert_missing_frames_are_empty=True)
            frames.append([frame, [int(n) for n in pixels.reshape(-1, pixels.shape[-1]).sum(axis=0)]])
        answers.append({'type': seg.segmentation_type.value, 'segments': list(seg.segment_numbers), 'frames': frames})
    except Exception as error:
        answers.append({'error': repr(error)})
print(json.dumps(answers))
`;

/** Returns what highdicom reads from each file, one row per file. */
function readByHighdicom(files: readonly Buffer[]): unknown[] {
  const { stdout, stderr } = python(
    READ,
    files.map((bytes) => asFile(bytes, 'dcm')),
  );
  expect(stderr).not.toContain('Traceback');
  return JSON.parse(stdout);
}

const outlined: Result = {
  ...ECHO,
  measurements: [
    echoValue('lvedv-biplane', 101, {
      source: {
        ...HC.source,
        file: 'abdomen.dcm',
        sop_instance_uid: '2.25.2002',
        frame: 3,
        calipers: [
          {
            type: 'polygon',
            points: [
              [100, 50],
              [210, 80],
              [160, 220],
            ],
          },
        ],
      },
    }),
  ],
};

/**
 * Keeps only values that are not withheld. A NUM without a value is allowed, but highdicom refuses
 * documents that contain one (exchange 2.2, and the last test of this file).
 */
const measured = (result: Result): Result => ({
  ...result,
  measurements: result.measurements.filter(({ quality }) => quality === 'accepted'),
});

const DICOM_OBJECTS = dicomObjects(INTERGROWTH_CURVES);

/**
 * highdicom's `srread` does not support this class and reports that. It can read the TID 5200 form.
 */
const SIMPLIFIED_ADULT_ECHO = '1.2.840.10008.5.1.4.1.1.88.72';

async function formsOf(role: keyof typeof DICOM_OBJECTS, result: Result): Promise<Buffer[]> {
  const objects = await DICOM_OBJECTS[role]({
    result,
    subject: SUBJECT,
    destination: { measurementSopClass: 'auto', segmentation: 'labelmap' },
    artifactPath: async () => null,
  });
  return objects.flat();
}

const MASKS = cine(64, 48);
const masksOf = (form: SegmentationForm) =>
  buildSegmentation(RESULT, SUBJECT, MASKS, { form, number: 1 });

/** One Python process reads everything, because loading highdicom takes seconds. */
const read = new Map<string, unknown[]>();
beforeAll(async () => {
  if (!INSTALLED) return;
  const reports = async (result: Result, roles: readonly (keyof typeof DICOM_OBJECTS)[]) =>
    (await Promise.all(roles.map((role) => formsOf(role, measured(result)))))
      .flat()
      .filter((bytes) => !bytes.includes(SIMPLIFIED_ADULT_ECHO));
  const groups: [string, Buffer[]][] = [
    ['reports obstetric', await reports(RESULT, ['sr-tid1500', 'sr-tid5000'])],
    ['reports echo', await reports(ECHO, ['sr-tid1500', 'sr-echo'])],
    ['reports with withheld values', await formsOf('sr-tid1500', RESULT)],
    ['masks obstetric', await formsOf('seg', RESULT)],
    ['masks echo', await formsOf('seg', outlined)],
    ['masks binary', [masksOf('binary')]],
    ['masks labelmap', [masksOf('labelmap')]],
  ];
  const answers = readByHighdicom(groups.flatMap(([, files]) => files));
  for (const [name, files] of groups) read.set(name, answers.splice(0, files.length));
});
const answersFor = (name: string): unknown[] => read.get(name) ?? [];

describe.skipIf(!INSTALLED)('highdicom reads', () => {
  test.each(['obstetric', 'echo'])('every structured report of the %s endpoint', (endpoint) => {
    const answers = answersFor(`reports ${endpoint}`);
    expect(answers.length).toBeGreaterThan(2);
    for (const answer of answers) {
      expect(answer).toMatchObject({ items: expect.any(Number), title: expect.any(String) });
    }
  });

  test.each(['obstetric', 'echo'])(
    'every Segmentation of the %s endpoint, as LABELMAP and as BINARY',
    (endpoint) => {
      const answers = answersFor(`masks ${endpoint}`);
      expect(answers.length).toBeGreaterThan(1);
      const types = answers.map((_, index) => (index % 2 === 0 ? 'LABELMAP' : 'BINARY'));
      expect(answers).toEqual(types.map((type) => expect.objectContaining({ type })));
    },
  );

  test.each(['binary', 'labelmap'])(
    'the %s masks on the frames on which they were drawn',
    (form) => {
      const inside = (pixels: Uint8Array) => pixels.reduce((sum, pixel) => sum + pixel, 0);
      const frames = [2, 5, 9].map((frame, at) => [
        frame,
        MASKS.segments.map((one) => inside(one.frames[at]?.pixels ?? new Uint8Array())),
      ]);
      expect(answersFor(`masks ${form}`)).toEqual([
        { type: form.toUpperCase(), segments: [1, 2, 3], frames },
      ]);
    },
  );

  // If this fails, highdicom can now read such documents, and `measured` no longer needs to leave
  // values out.
  test('no document with a withheld value, because it expects a unit for each NUM', () => {
    expect(RESULT.measurements.some(({ quality }) => quality === 'low')).toBe(true);
    const answers = answersFor('reports with withheld values');
    expect(answers.length).toBeGreaterThan(0);
    for (const answer of answers)
      expect(answer).toEqual({ error: expect.stringMatching(/^IndexError/) });
  });
});
