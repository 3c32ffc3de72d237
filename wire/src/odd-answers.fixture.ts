/** What whoever answers may say, and Node does not pass on; by the path that is asked for. */
export const oddAnswers: Record<string, string> = {
  '/word': 'HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\nhi',
  '/status': 'HTTP/1.1 000 OK\r\nContent-Length: 2\r\n\r\nhi',
  '/header': 'HTTP/1.1 200 OK\r\nX-A: \x01\r\n\r\n',
  '/trailer': 'HTTP/1.1 200 OK\r\nTrailer: x\r\nContent-Length: 2\r\n\r\nhi',
  '/length': 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n',
  '/early': 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  '/switch': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n',
}
