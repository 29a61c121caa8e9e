import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { dicomFile } from '../dimse/dicom-file.ts';
import { DCMTK_INSTALLED, dcmtk } from '../peers/dcmtk.ts';
import { freePort } from '../peers/free-port.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

async function recipe() {
  const text = await readFile(join(TOP, 'config/deploy/Containerfile'), 'utf8');
  const joined = text.replaceAll(/\\\n\s*/g, ' ');
  const [, user = ''] = /^USER (\d+:\d+)$/m.exec(joined) ?? [];
  const environment = (/^ENV (.*)$/m.exec(joined)?.[1] ?? '').trim().split(/\s+/);
  const list = (word: string): string[] =>
    JSON.parse(new RegExp(`^${word}.*?(\\[.*\\])$`, 'm').exec(joined)?.[1] ?? '[]');
  return {
    user,
    environment,
    /** The program's files and folders, by their names at the top level of the repository. */
    copied: [...joined.matchAll(/^COPY (?!--from)(.*) \S+$/gm)]
      .flatMap(([, names = '']) => names.split(' '))
      .filter((name) => !name.endsWith('*')),
    command: [...list('ENTRYPOINT'), ...list('CMD')],
    healthcheck: list('HEALTHCHECK'),
  };
}

/** Returns true if this account may mount in a mount namespace, which not every sandbox allows. */
function mayMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'], {
      stdio: 'ignore',
    });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

/**
 * Returns a script that builds the container's root file system from this Debian and from what the
 * container file copies (read-only except for the volume and /tmp), and runs commands in it as the
 * container file's user.
 */
function containerScript({
  user,
  environment,
  copied,
}: Awaited<ReturnType<typeof recipe>>): string {
  const [uid, gid] = user.split(':');
  const bind = (from: string, to: string) =>
    `mount --bind ${from} "$R${to}" && mount -o remount,bind,ro "$R${to}"`;
  return `set -e
R=$1; shift
mount -t tmpfs none "$R"
mkdir -p "$R"/{usr,etc/sonogate,proc,dev,tmp,data,opt/sonogate}
${bind('/usr', '/usr')}
for link in bin lib lib64; do ln -s usr/$link "$R/$link"; done
cp /etc/ld.so.cache /etc/hosts /etc/nsswitch.conf "$R/etc/" 2>/dev/null || true
cp "$SITE" "$R/etc/sonogate/site.yaml"
${[...copied, 'node_modules']
  .map((name) => {
    const from = join(TOP, name);
    const to = `/opt/sonogate/${name}`;
    return `if [ -d ${from} ]; then mkdir -p "$R${to}"; else touch "$R${to}"; fi; ${bind(from, to)}`;
  })
  .join('\n')}
mount --bind "$DATA" "$R/data"
mount --bind /proc "$R/proc"
mount --bind /dev "$R/dev"
mount -o remount,ro "$R"
mount -t tmpfs -o mode=1777 none "$R/tmp"
exec chroot --userspec=${uid}:${gid} --groups= "$R" /usr/bin/env -i \\
  PATH=/opt/sonogate/node_modules/.bin:/usr/bin:/bin HOME=/tmp TCP_NODELAY=1 ${environment.join(' ')} \\
  sh -c 'cd /opt/sonogate && exec "$@"' sh "$@"
`;
}

it.skipIf(!mayMount() || !DCMTK_INSTALLED)(
  'the image: what the container file copies runs without root on a read-only disk, is healthy, and takes a study',
  { timeout: 240_000 },
  async () => {
    const image = await recipe();
    const folder = await mkdtemp(join(tmpdir(), 'sonogate-image-'));
    const [root, data] = [join(folder, 'root'), join(folder, 'data')];
    await Promise.all([mkdir(root), mkdir(data, { mode: 0o700 })]);
    await run('chown', [image.user, data]);
    const [http, dicom, monitoring] = [await freePort(), await freePort(), await freePort()];
    const site = join(folder, 'site.yaml');
    await writeFile(
      site,
      stringify({
        http: { host: '127.0.0.1', port: http },
        dicom: { host: '127.0.0.1', port: dicom },
        monitoring: { host: '127.0.0.1', port: monitoring },
        routing: { rules: [{ name: 'waits', hold: true }] },
      }),
    );
    const script = join(folder, 'container.sh');
    await writeFile(script, containerScript(image));
    const env = { ...process.env, SITE: site, DATA: data };
    const inside = (command: readonly string[]) => [
      '--mount',
      '--propagation',
      'private',
      'bash',
      script,
      root,
      ...command,
    ];

    const gateway = spawn('unshare', inside(image.command), {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    try {
      const log: string[] = [];
      await new Promise<void>((done, fail) => {
        gateway.once('exit', () => fail(new Error(log.join('\n'))));
        createInterface({ input: gateway.stderr }).on('line', (line) => {
          log.push(line);
          if (line.includes('"gateway_started"')) done();
        });
      });

      // The container file uses port 9464, which another test may be using.
      const check = image.healthcheck.map((part) => part.replace('9464', String(monitoring)));
      await run('unshare', inside(check), { env });

      const file = join(folder, 'image.dcm');
      await writeFile(
        file,
        dicomFile({ sopInstanceUid: '1.2.840.113.78.1', studyInstanceUid: '1.2.840.113.78' }),
      );
      const sent = await dcmtk('storescu', ['-aec', 'SONOGATE', '127.0.0.1', String(dicom), file]);
      expect(sent, sent.output).toMatchObject({ exitCode: 0 });
      const list = [...image.command.slice(0, -1), 'studies', 'list', '--json'];
      const { stdout } = await run('unshare', inside(list), { env });
      expect(JSON.parse(stdout)).toMatchObject([
        { studyInstanceUid: '1.2.840.113.78', objects: 1 },
      ]);

      // Opens the addresses that clients and people use. Then checks that nothing outside the
      // volume can be written.
      for (const path of ['/docs', '/v1/openapi.json', '/console/']) {
        expect((await fetch(`http://127.0.0.1:${http}${path}`)).status, path).toBe(200);
      }
      const written = run('unshare', inside(['touch', '/opt/sonogate/src/x']), { env });
      await expect(written).rejects.toMatchObject({ stderr: expect.stringContaining('Read-only') });
      const { stdout: who } = await run('unshare', inside(['id', '-u']), { env });
      expect(`${who.trim()}:10001`).toBe(image.user);
    } finally {
      const ended = new Promise((done) => gateway.once('exit', done));
      gateway.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    }
  },
);
