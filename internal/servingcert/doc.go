// Package servingcert makes the certificate that a server shows when nobody gave it
// one, and keeps it.
//
// The pair is apiserver.crt (the certificate, followed by the authority that signed
// it) and apiserver.key in one directory. It is made anew only if it is not there,
// will soon expire, or does not cover a host the server is to be known by; otherwise
// clients that trust it would have to be told of another one for nothing. The key of
// the authority is thrown away: it signs this one certificate and can never sign
// another.
package servingcert
