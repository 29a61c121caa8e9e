/**
 * The golden record: what the pipelines find in fixed inputs, value by value, without any wording.
 * A refactoring must leave it unchanged; after a change to a model or a rule it shows what the
 * change affected.
 *
 * npm run golden              compares this tree with the record, and fails if a value differs
 * npm run golden -- --write   renews the record
 * npm run golden -- hc18      only cases whose name contains the word
 *
 * Inputs: phantom studies (the same bytes for the same seed), and images from ../shared/data, which
 * are left out if that folder does not exist.
 */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ECHO_CASES } from '../../models/phantom/echo/cases.ts';
import { echoStudy } from '../../models/phantom/echo/study.ts';
import { simulateObstetricStudy } from '../../models/phantom/study.ts';
import { type Result, resultSchema } from '../../pipelines/result/envelope.ts';
import { type InterpretOptions, interpret } from '../../src/app/cli/interpret.ts';

interface Case {
  name: string;
  endpoint: 'us/obstetric' | 'us/echo';
  options: Omit<InterpretOptions, 'out'>;
  /** Files of a phantom, or paths of real images. */
  input: () => Promise<readonly { name: string; bytes: Buffer }[]> | readonly string[];
}

const DATA = '../shared/data';
const RECORDS = new URL('./records/', import.meta.url).pathname;
/**
 * Processors differ in the last bits of a convolution. A change of method makes a larger
 * difference.
 */
const TOLERANCE = 1e-4;

const obstetric = (gaDays: number, seed: number): Case => ({
  name: `obstetric-${gaDays}-days`,
  endpoint: 'us/obstetric',
  options: { gaDays, accept: 'simulated' },
  input: async () => (await simulateObstetricStudy({ seed, gaDays, contents: 'stills' })).files,
});

const echo = (of: keyof typeof ECHO_CASES, seed: number): Case => ({
  name: `echo-${of}`,
  endpoint: 'us/echo',
  options: { accept: 'simulated' },
  input: async () => (await echoStudy({ seed, of })).files,
});

const real = (
  name: string,
  endpoint: Case['endpoint'],
  paths: readonly string[],
  mmPerPx?: number,
): Case => ({
  name,
  endpoint,
  options: mmPerPx === undefined ? {} : { mmPerPx },
  input: () => paths.map((path) => join(DATA, path)),
});

async function labelled(file: string): Promise<string[][]> {
  const text = await readFile(join(DATA, file), 'utf8');
  const [, ...rows] = text.trim().split('\n');
  return rows.map((row) => row.split(','));
}

/** Returns twenty images and clips, picked at fixed positions from the lists of labels. */
async function realCases(): Promise<Case[]> {
  if (!existsSync(DATA)) return [];
  const heads = await labelled('hc18/labels.csv');
  const planes = await labelled('fetal-planes/landmarks.csv');
  const dicom = (folder: string) =>
    readdirSync(join(DATA, folder))
      .filter((name) => name.endsWith('.dcm'))
      .map((name) => join(folder, name));
  return [
    ...[0, 150, 300, 450, 600].map((at) =>
      real(`hc18-${at}`, 'us/obstetric', [`hc18/${heads[at]?.[0]}`], Number(heads[at]?.[2])),
    ),
    ...(
      [
        ['Abdomen', 0],
        ['Abdomen', 20],
        ['Abdomen', 60],
        ['Femur', 3],
        ['Femur', 40],
        ['Head', 10],
      ] as const
    ).map(([part, at]) => {
      const row = planes.filter((each) => each[1] === part)[at];
      return real(
        `fetal-planes-${part.toLowerCase()}-${at}`,
        'us/obstetric',
        [`fetal-planes/${row?.[0]}`],
        Number(row?.[2]),
      );
    }),
    real('psfhs-03744', 'us/obstetric', ['psfhs/images/03744.jpg']),
    real('nt-1', 'us/obstetric', ['nt-midsagittal/images/1.jpg'], 0.1),
    real('nt-40', 'us/obstetric', ['nt-midsagittal/images/40.jpg'], 0.1),
    real('echo-clip-mitral', 'us/echo', ['echo-clips/SA_MitralVolunteer.mov']),
    real('echo-clip-papillary', 'us/echo', ['echo-clips/SA_PapilaryVolunteer.mov']),
    real('echo-clip-a4c', 'us/echo', ['echo-clips/Apical4chVolunteer.mov']),
    real('doppler', 'us/echo', dicom('dicom/doppler')),
    real('doppler-unseen', 'us/echo', dicom('dicom/doppler-unseen')),
    // Twelve frames of a beat, and the whole loop.
    real('acuson-a4c', 'us/echo', ['dicom/us/DIRW0007_12fr_rgb_jpegls.dcm']),
    real('acuson-a4c-loop', 'us/echo', ['dicom/us/DIRW0007_repaired_jpegbaseline.dcm']),
  ];
}

async function allCases(): Promise<Case[]> {
  return [
    ...[obstetric(203, 101), obstetric(98, 102), obstetric(140, 103)],
    ...[obstetric(168, 104), obstetric(238, 105), obstetric(266, 106)],
    ...[echo('normal', 107), echo('dilated-low-ef', 108), echo('hypertrophy', 109)],
    ...[echo('aortic-stenosis', 110), echo('pulmonary-hypertension', 111), echo('effusion', 112)],
    ...(await realCases()),
  ];
}

/**
 * The findings of a case by path, such as `measurements.hc.value`. They are codes, numbers and
 * statuses, but never sentences.
 */
type Found = Record<string, string | number | boolean | null>;

function findingsOf(result: Result): Found {
  const found: Found = {};
  for (const { id, status, reason } of result.sections) {
    found[`sections.${id}.status`] = status;
    found[`sections.${id}.reason`] = reason?.code ?? null;
  }
  for (const one of result.measurements) {
    const { id, value, unit, method, quality, uncertainty, interpretation, reference } = one;
    const fields = { value, unit, method, quality, uncertainty, interpretation };
    for (const [field, each] of Object.entries(fields)) found[`measurements.${id}.${field}`] = each;
    found[`measurements.${id}.centile`] = reference?.centile ?? null;
    found[`measurements.${id}.file`] = one.source.file;
    found[`measurements.${id}.frame`] = one.source.frame;
    found[`measurements.${id}.inputs`] = one.inputs.join(' ');
  }
  for (const { id, severity, evidence } of result.findings) {
    found[`findings.${id}`] = `${severity}: ${evidence.join(' ')}`;
  }
  for (const { id, value } of result.classifications) found[`classifications.${id}`] = value;
  for (const { id } of result.guidance) found[`guidance.${id}`] = true;
  return found;
}

async function run({ endpoint, options, input }: Case): Promise<Found> {
  const folder = await mkdtemp(join(tmpdir(), 'golden-'));
  try {
    const given = await input();
    const paths = await Promise.all(
      given.map(async (one) => {
        if (typeof one === 'string') return one;
        const path = join(folder, one.name);
        await writeFile(path, one.bytes);
        return path;
      }),
    );
    const out = join(folder, 'out');
    await interpret(endpoint, paths, { ...options, report: true, out });
    const text = await readFile(join(out, 'result.json'), 'utf8');
    return findingsOf(resultSchema.parse(JSON.parse(text)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function equal(one: unknown, other: unknown): boolean {
  if (typeof one !== 'number' || typeof other !== 'number') return one === other;
  return Math.abs(one - other) <= TOLERANCE * Math.max(1e-6, Math.abs(one));
}

function differences(recorded: Found, found: Found): string[] {
  const paths = new Set([...Object.keys(recorded), ...Object.keys(found)]);
  return [...paths].flatMap((path) =>
    path in recorded && path in found && equal(recorded[path], found[path])
      ? []
      : [`${path}: ${recorded[path] ?? 'absent'} was recorded, ${found[path] ?? 'absent'} found`],
  );
}

const words = process.argv.slice(2);
const write = words.includes('--write');
const only = words.filter((word) => !word.startsWith('--'));
let compared = 0;
let differing = 0;
await mkdir(RECORDS, { recursive: true });
for (const one of await allCases()) {
  if (only.length > 0 && !only.some((word) => one.name.includes(word))) continue;
  const file = join(RECORDS, `${one.name}.json`);
  const found = await run(one);
  if (write) {
    await writeFile(file, `${JSON.stringify(found, null, 1)}\n`);
    continue;
  }
  const recorded = JSON.parse(await readFile(file, 'utf8')) as Found;
  const lines = differences(recorded, found);
  compared += Object.keys(recorded).length;
  differing += lines.length;
  process.stdout.write(
    `${one.name}: ${Object.keys(recorded).length} recorded, ${lines.length} differ\n`,
  );
  for (const line of lines) process.stdout.write(`  ${line}\n`);
}
if (!write) process.stdout.write(`${compared} values compared, ${differing} differ\n`);
process.exitCode = differing > 0 ? 1 : 0;
