import { createHash } from 'node:crypto';
import { access, constants, readFile, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Config } from '../../../config/schema.ts';
import { readRegistry } from '../../../pipelines/inference/model-registry.ts';
import { callAdminSocket, NoGatewayError } from '../../admin/socket.ts';
import { ifMissing } from '../../errors/if-missing.ts';
import { type Finding, fault, inOneLine, ok, warning } from './finding.ts';

/** Below this many times the watermark the disk is told before it is full. */
const DISK_MARGIN = 5;
const GIBIBYTE = 1024 ** 3;
/** Permissions of other users: what is stored are patients' images. */
const OTHERS = 0o007;
/** Associations, event streams, database sessions and files at the same time. */
const FEWEST_OPEN_FILES = 4096;

/** Data folder, disk, models and, where one runs, the gateway itself. */
export async function checkThisMachine(config: Config): Promise<Finding[]> {
  return [
    await dataFolder(config.dataDir),
    await disk(config),
    ...(await models()),
    openFiles(),
    await gateway(config.dataDir),
  ];
}

async function dataFolder(dataDir: string): Promise<Finding> {
  try {
    const there = await nearestFolder(dataDir);
    await access(there, constants.W_OK);
    if (there !== resolve(dataDir)) {
      const words = 'is not there: the first start makes it, or the gateway has another';
      return warning('data folder', `${resolve(dataDir)} ${words} SONOGATE_DATA_DIR`);
    }
    const found = await stat(dataDir);
    if (!found.isDirectory()) return fault('data folder', `${dataDir} is not a folder`);
    const { mode } = found;
    const rights = (mode & 0o777).toString(8);
    return (mode & OTHERS) === 0
      ? ok('data folder', `${dataDir} can be written, mode ${rights}`)
      : warning('data folder', `${dataDir} has mode ${rights}: others of this machine can read it`);
  } catch (error) {
    return fault('data folder', inOneLine(error));
  }
}

/** A folder, or the nearest above it that is there: to look is not to make it. */
async function nearestFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  const above = dirname(path);
  if (above === path || (await ifMissing(stat(path), null))) return path;
  return nearestFolder(above);
}

async function disk({ dataDir, dicom }: Config): Promise<Finding> {
  try {
    const { bavail, bsize } = await statfs(await nearestFolder(dataDir));
    const free = bavail * bsize;
    const words = `${(free / GIBIBYTE).toFixed(1)} GiB free`;
    const limit = `objects are refused below ${(dicom.minFreeBytes / GIBIBYTE).toFixed(1)} GiB`;
    if (free < dicom.minFreeBytes) return fault('disk', `${words}; ${limit}`);
    if (free < dicom.minFreeBytes * DISK_MARGIN) return warning('disk', `${words}; ${limit}`);
    return ok('disk', words);
  } catch (error) {
    return fault('disk', inOneLine(error));
  }
}

/** The weights must be those whose metrics the cards state. */
async function models(): Promise<Finding[]> {
  try {
    const entries = await readRegistry();
    const findings = await Promise.all(
      entries.map(async ({ id, path, sha256 }) => {
        const found = createHash('sha256')
          .update(await readFile(path))
          .digest('hex');
        return found === sha256 ? null : fault(`model ${id}`, `its checksum is ${found}`);
      }),
    );
    const wrong = findings.filter((finding) => finding !== null);
    return wrong.length > 0 ? wrong : [ok('models', `${entries.length}, checksums as registered`)];
  } catch (error) {
    return [fault('models', inOneLine(error))];
  }
}

/** `ulimit -n` of the shell, `LimitNOFILE` of a unit. */
function openFiles(): Finding {
  const report = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const limit = report.userLimits?.open_files?.soft ?? 'unlimited';
  const words = `${limit} files may be open`;
  return limit === 'unlimited' || limit >= FEWEST_OPEN_FILES
    ? ok('limits', words)
    : warning('limits', `${words}; ${FEWEST_OPEN_FILES} are better`);
}

async function gateway(dataDir: string): Promise<Finding> {
  try {
    await callAdminSocket(dataDir, 'deliveries.list', {});
    return ok('gateway', 'runs on this data folder');
  } catch (error) {
    if (error instanceof NoGatewayError) return warning('gateway', 'none runs on this data folder');
    return fault('gateway', inOneLine(error));
  }
}
