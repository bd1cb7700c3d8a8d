package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// errShutdown is why an answer ends that outlasts the grace of a shutdown.
var errShutdown = errors.New("the host is shutting down")

// Listen serves ln, which it closes, until Shutdown, and returns nil then.
func (s *Server) Listen(ln net.Listener) error {
	at, ok := ln.Addr().(*net.TCPAddr)
	s.wide.Store(ok && !at.IP.IsLoopback())
	s.mu.Lock()
	s.listener = &listener{Listener: ln, server: s, tls: s.TLS, closed: make(chan struct{})}
	s.mu.Unlock()
	if s.down.Load() {
		return ln.Close()
	}
	watched, stop := context.WithCancel(context.Background())
	defer stop()
	go s.streams.watch(watched, s.Limits)
	err := s.app.Listener(s.listener)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// hangUp closes the listener, whether Fiber has it already or not yet.
func (s *Server) hangUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down.Store(true)
	if s.listener == nil {
		return nil
	}
	return s.listener.Close()
}

// settle is how long answers that a shutdown cut off have to say so.
const settle = 2 * time.Second

// Shutdown stops listening and waits for requests and streams under way, until
// ctx ends: then streams end with an error frame, and after two seconds all
// connections are closed.
func (s *Server) Shutdown(ctx context.Context) error {
	if err := s.hangUp(); err != nil {
		return fmt.Errorf("close listener: %w", err)
	}
	s.endLogStream() // it would never finish by itself
	defer s.leader.client.CloseIdleConnections()
	s.conns.endRest()
	hard, end := context.WithCancel(context.Background())
	defer end()
	done := make(chan error, 1)
	go func() {
		err := s.app.ShutdownWithContext(hard)
		s.awaitConns(hard)
		done <- err
	}()
	select {
	case err := <-done:
		s.stop(errShutdown)
		return err
	case <-ctx.Done():
	}
	s.stop(errShutdown)
	select {
	case err := <-done:
		return err
	case <-time.After(settle):
	}
	s.conns.closeAll()
	end()
	<-done
	return nil
}

// awaitConns waits until no connection is served any more, or ctx ends.
func (s *Server) awaitConns(ctx context.Context) {
	none := make(chan struct{})
	go func() {
		defer close(none)
		s.taken.Wait()
	}()
	select {
	case <-none:
	case <-ctx.Done():
	}
}
