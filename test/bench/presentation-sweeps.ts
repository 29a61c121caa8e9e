import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { derivedUid, writeUltrasound } from '../../models/phantom/dicom.ts';
import { createRandom } from '../../models/phantom/random.ts';
import { drawGrowth, sizesAt } from '../../models/phantom/sizes.ts';
import { presentationSweep } from '../../models/phantom/views/sweep.ts';
import { readStudy } from '../../pipelines/input/read-study.ts';
import { parseOptions } from '../../pipelines/obstetric/input.ts';
import { openLocator } from '../../pipelines/obstetric/open-locator.ts';
import { surveyPlanes } from '../../pipelines/obstetric/planes/read.ts';
import { presentationReader } from '../../pipelines/obstetric/presentation/read.ts';
import type { Plane } from '../../pipelines/obstetric/shared/plane.ts';
import { readPresentation } from '../../pipelines/obstetric/shared/sweeps.ts';

/**
 * Prints what is read from simulated sweeps along the uterus (one fetus or two, cephalic or breech,
 * upwards or downwards, over the whole range of gestational ages): `node
 * test/bench/presentation-sweeps.ts [count] [first seed]`. Under each sweep it prints the part
 * shown in each frame (H head, T trunk) and the plane assigned to it.
 */
const [count = 32, first = 90_000] = process.argv.slice(2).map(Number);
const FRAMES = 36;

const HEADER = {
  patientName: 'PHANTOM^SWEEP',
  patientId: 'SWEEP',
  patientBirthDate: '19930405',
  patientAge: '032Y',
  patientSizeMetres: 1.68,
  patientWeightKg: 70,
  lastMenstrualDate: '20250731',
  studyInstanceUid: derivedUid('sweeps'),
  seriesInstanceUid: derivedUid('sweeps series'),
  studyId: '1',
  studyDate: '20260115',
  studyTime: '101500',
  accessionNumber: 'SWEEP',
  studyDescription: 'Sweep',
};

interface Asked {
  seed: number;
  gaDays: number;
  cephalic: boolean;
  fetuses: number;
  fromFundus: boolean;
}

function ask(index: number): Asked {
  const seed = first + index;
  const { youngest, oldest } = presentationSweep.ages;
  return {
    seed,
    gaDays: createRandom(seed).integer(youngest, oldest),
    cephalic: index % 2 === 0,
    fetuses: index % 4 === 3 ? 2 : 1,
    fromFundus: index % 8 >= 4,
  };
}

const LETTERS: Partial<Record<Plane, string>> = {
  transthalamic: 'H',
  transventricular: 'H',
  transcerebellar: 'H',
  abdominal: 'A',
  thorax: 'T',
  'four-chamber': '4',
  femur: 'f',
  other: '.',
};

const signal = new AbortController().signal;
const folder = await mkdtemp(join(tmpdir(), 'sweeps-'));
const locator = await openLocator({ provider: 'cpu', threads: 1, allow: 'all' });

async function read({ seed, gaDays, cephalic, fetuses, fromFundus }: Asked) {
  const frames = presentationSweep.simulate({
    gaDays,
    sizes: sizesAt(gaDays, drawGrowth(createRandom(seed).fork('growth'))),
    seed,
    frames: FRAMES,
    screen: { columns: 640, rows: 480 },
    anatomy: { cephalic: Number(cephalic), fetuses, fromFundus: Number(fromFundus) },
  });
  const path = join(folder, `${seed}.dcm`);
  const header = presentationSweep.header?.(frames) ?? {};
  const encoding = { compression: 'jpeg', colour: 'grey' } as const;
  const image = { sopInstanceUid: derivedUid(`sweep ${seed}`), instanceNumber: 1, encoding };
  await writeFile(path, await writeUltrasound(frames, HEADER, { ...image, ...header }));
  const study = await readStudy([{ name: 'sweep.dcm', path }]);
  const { planes } = await surveyPlanes(study, null, locator, signal, () => {});
  const options = parseOptions({});
  const { sweeps } = await presentationReader.read({ study, options, planes, locator, signal });
  await rm(path);
  const shown = frames.map(({ truth: { values } }) =>
    values?.head ? 'H' : values?.trunk ? 'T' : '.',
  );
  const named = planes.map(({ estimate }) => LETTERS[estimate.label] ?? '?');
  const runs = sweeps[0]?.runs.map(({ part, from, to }) => `${part} ${from}-${to}`);
  const found = sweeps[0] ? readPresentation(sweeps[0]) : { fetuses: 0, presentation: null };
  return { found, shown: shown.join(''), named: named.join(''), runs };
}

const tally = { right: 0, wrong: 0, withheld: 0 };
const counted = { right: 0, tooMany: 0, tooFew: 0, none: 0 };
for (let index = 0; index < count; index++) {
  const asked = ask(index);
  const { found, shown, named, runs } = await read(asked);
  const truth = asked.cephalic ? 'cephalic' : 'breech';
  if (found.presentation === null) tally.withheld += 1;
  else tally[found.presentation === truth ? 'right' : 'wrong'] += 1;
  if (found.fetuses === 0) counted.none += 1;
  else if (found.fetuses === asked.fetuses) counted.right += 1;
  else counted[found.fetuses > asked.fetuses ? 'tooMany' : 'tooFew'] += 1;
  const { seed, gaDays, fetuses, fromFundus } = asked;
  const way = fromFundus ? 'down' : 'up';
  console.log(`${seed} ${gaDays} d, ${fetuses} ${truth}, ${way}: ${JSON.stringify(found)}`);
  console.log(`  ${shown}\n  ${named}\n  ${runs?.join(', ')}`);
}
await locator.close();
await rm(folder, { recursive: true });
console.log(`presentation: ${JSON.stringify(tally)}`);
console.log(`number of fetuses: ${JSON.stringify(counted)}`);
