import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../../../config/schema.ts';
import {
  createUrlGuard,
  isPublic,
  UrlNotPermittedError,
} from '../../../../src/platform/outbound/url-guard.ts';

const SETTINGS: Config['outbound'] = {
  hosts: [
    {
      host: 'pacs.hospital.example',
      addresses: ['10.20.0.0/16', 'fd12::/16'],
      ports: [443, 8443],
      http: true,
    },
    { host: 'archive', addresses: ['192.168.7.7'], ports: [443], http: false },
    { host: 'files.example.com', addresses: [], ports: [443], http: false },
  ],
  inputFiles: 'listed-hosts',
  maxFileBytes: 1000,
  fetchTimeoutSeconds: 1,
};

const addresses = (...list: string[]): LookupAddress[] =>
  list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
const guard = createUrlGuard(SETTINGS);
const resolving = (...list: string[]) => createUrlGuard(SETTINGS, async () => addresses(...list));

describe('addresses', () => {
  it.each([
    ['0.0.0.0', false],
    ['9.255.255.255', true],
    ['10.0.0.0', false],
    ['10.255.255.255', false],
    ['11.0.0.0', true],
    ['100.63.255.255', true],
    ['100.64.0.0', false],
    ['100.127.255.255', false],
    ['100.128.0.0', true],
    ['127.0.0.1', false],
    ['169.254.169.254', false],
    ['172.15.255.255', true],
    ['172.16.0.0', false],
    ['172.31.255.255', false],
    ['172.32.0.0', true],
    ['192.0.0.8', false],
    ['192.0.2.1', false],
    ['192.88.99.1', false],
    ['192.168.0.1', false],
    ['198.18.0.1', false],
    ['198.51.100.1', false],
    ['203.0.113.1', false],
    ['223.255.255.255', true],
    ['224.0.0.1', false],
    ['240.0.0.1', false],
    ['255.255.255.255', false],
    ['8.8.8.8', true],
    ['::', false],
    ['::1', false],
    ['::7f00:1', false],
    ['fc00::1', false],
    ['fd00:ec2::254', false],
    ['fe80::1', false],
    ['fe80::1%eth0', false],
    ['ff02::1', false],
    ['2001:db8::1', false],
    ['2002:7f00:1::', false],
    ['::ffff:0:127.0.0.1', false],
    ['3fff::1', false],
    ['3fff:fff:ffff::1', false],
    ['5f00::1', false],
    ['::ffff:127.0.0.1', false],
    ['::ffff:a9fe:a9fe', false],
    ['::ffff:8.8.8.8', true],
    ['64:ff9b::10.0.0.1', false],
    ['64:ff9b::', false],
    ['64:ff9b::808:808', true],
    ['2606:4700:4700::1111', true],
    ['not an address', false],
  ])('%s is public: %s', (address, expected) => {
    expect(isPublic(address)).toBe(expected);
  });
});

describe('URLs from clients', () => {
  it.each([
    ['loopback', 'https://127.0.0.1/'],
    ['decimal IPv4', 'https://2130706433/'],
    ['hexadecimal IPv4', 'https://0x7f.1/'],
    ['octal IPv4', 'https://0177.0.0.1/'],
    ['short IPv4', 'https://127.1/'],
    ['nothing at all', 'https://0.0.0.0/'],
    ['cloud metadata', 'https://169.254.169.254/latest/meta-data/'],
    ['IPv6 loopback', 'https://[::1]/'],
    ['IPv4-mapped IPv6', 'https://[::ffff:127.0.0.1]/'],
    ['translated IPv4', 'https://[64:ff9b::7f00:1]/'],
    ['localhost', 'https://localhost/'],
    ['localhost with a dot', 'https://localhost./'],
    ['a name below localhost', 'https://a.localhost/'],
    ['localhost in wide letters', 'https://ｌｏｃａｌｈｏｓｔ/'],
    ['loopback in circled digits', 'https://①②⑦.⓪.⓪.①/'],
    ['a local name', 'https://printer.local/'],
    ['an internal name', 'https://metadata.google.internal/'],
    ['an internal name with a dot', 'https://metadata.google.internal./'],
    ['a single label', 'https://intranet/'],
    ['user information', 'https://user:secret@example.com/'],
    ['a host disguised as a user', 'https://example.com@127.0.0.1/'],
    ['plain http', 'http://example.com/'],
    ['another port', 'https://example.com:8443/'],
    ['SSH', 'https://example.com:22/'],
    ['a file', 'file:///etc/passwd'],
    ['gopher', 'gopher://example.com/'],
    ['no URL', 'example.com'],
    ['no host', 'https://'],
    ['2049 characters', `https://example.com/${'a'.repeat(2029)}`],
    ['a listed host on a port that is not listed', 'https://pacs.hospital.example:9443/'],
    ['http to a host listed for https', 'http://archive/'],
  ])('refuses %s: %s', (_case, url) => {
    expect(() => guard.check(url, 'webhook')).toThrow(UrlNotPermittedError);
  });

  it.each([
    ['a public name', 'https://example.com/hook?token=1'],
    ['port 443 in words', 'https://example.com:443/hook'],
    ['a public address', 'https://8.8.8.8/'],
    ['2048 characters', `https://example.com/${'a'.repeat(2028)}`],
    ['a listed host, another port', 'https://pacs.hospital.example:8443/'],
    ['a listed host in capitals and with a dot', 'https://PACS.Hospital.example./'],
    ['a listed host by http on its port', 'http://pacs.hospital.example:8443/'],
    ['a listed single label', 'https://archive/'],
  ])('accepts %s: %s', (_case, url) => {
    expect(guard.check(url, 'webhook').href).toContain('//');
  });

  it('accepts input files only from listed hosts, unless the site allows others', () => {
    const open = createUrlGuard({ ...SETTINGS, inputFiles: 'public-hosts' });
    expect(() => guard.check('https://example.com/a.dcm', 'input-file')).toThrow('outbound.hosts');
    expect(guard.check('https://files.example.com/a.dcm', 'input-file').pathname).toBe('/a.dcm');
    expect(open.check('https://example.com/a.dcm', 'input-file').pathname).toBe('/a.dcm');
    expect(() => open.check('https://10.0.0.1/a.dcm', 'input-file')).toThrow(UrlNotPermittedError);
  });
});

describe('names that are resolved', () => {
  it('lead to the addresses of a public name', async () => {
    expect(await resolving('8.8.8.8', '2606:4700::1').resolve('example.com')).toHaveLength(2);
  });

  it.each([['127.0.0.1'], ['169.254.169.254'], ['::1'], ['::ffff:10.0.0.1']])(
    'are refused if one of their addresses is %s',
    async (address) => {
      const name = resolving('8.8.8.8', address).resolve('rebound.example.com');
      await expect(name).rejects.toThrow(UrlNotPermittedError);
    },
  );

  it('may have the private addresses listed for them and no others', async () => {
    expect(await resolving('10.20.3.4').resolve('pacs.hospital.example')).toHaveLength(1);
    expect(await resolving('fd12::1').resolve('pacs.hospital.example.')).toHaveLength(1);
    await expect(resolving('10.21.0.1').resolve('pacs.hospital.example')).rejects.toThrow();
    await expect(resolving('10.20.3.4').resolve('files.example.com')).rejects.toThrow();
  });
});
