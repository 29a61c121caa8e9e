import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from '../errors/if-missing.ts';

const PRIVATE_KEY = 'seal-key.pem';
const PUBLIC_SUFFIX = '.pub.pem';

/** Where the keys of the audit and its last head lie, below the data folder. */
export function auditFolder(dataDir: string): string {
  return join(dataDir, 'audit');
}

export interface SealKey {
  key: KeyObject;
  /** SHA-256 of the public key, hex. */
  keyId: string;
}

/**
 * The Ed25519 key with which this data folder seals its audit; made at the first use, for its own
 * user alone. Its public half stands beside it, to be kept elsewhere as well.
 */
export async function loadSealKey(dataDir: string): Promise<SealKey> {
  const folder = auditFolder(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, PRIVATE_KEY);
  const pem = await readFile(path, 'utf8').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    const { privateKey } = generateKeyPairSync('ed25519');
    await writeOnce(path, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    // Of two processes that start together, the first to write it has made it.
    return readFile(path, 'utf8');
  });
  const key = createPrivateKey(pem);
  const publicKey = createPublicKey(key);
  const keyId = keyIdOf(publicKey);
  const spki = publicKey.export({ type: 'spki', format: 'pem' });
  await writeOnce(join(folder, `${keyId}${PUBLIC_SUFFIX}`), spki);
  return { key, keyId };
}

/** The public keys whose seals count, by id: those beside our own, and PEM files given besides. */
export async function loadPublicKeys(
  dataDir: string,
  more: readonly string[] = [],
): Promise<Map<string, KeyObject>> {
  const folder = auditFolder(dataDir);
  const names = await ifMissing(readdir(folder), []);
  const beside = names.filter((name) => name.endsWith(PUBLIC_SUFFIX));
  const keys = new Map<string, KeyObject>();
  for (const path of [...beside.map((name) => join(folder, name)), ...more]) {
    const key = createPublicKey(await readFile(path, 'utf8'));
    keys.set(keyIdOf(key), key);
  }
  return keys;
}

function keyIdOf(publicKey: KeyObject): string {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex');
}

/** Leaves a file that is there as it is. */
async function writeOnce(path: string, content: string | Buffer): Promise<void> {
  const making = `${path}.${randomUUID()}`;
  const file = await open(making, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await link(making, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(making);
}
