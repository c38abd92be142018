package server

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
)

var ErrClosed = errors.New("closed")

type Store struct {
	mu    sync.Mutex
	items map[string]string
}

func NewStore() *Store {
	return &Store{items: map[string]string{}}
}

func (s *Store) Get(key string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.items[key]
	if !ok {
		return "", fmt.Errorf("no item %q", key)
	}
	return value, nil
}

func (s *Store) Put(key, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.items == nil {
		return ErrClosed
	}
	s.items[key] = value
	return nil
}

func (s *Store) Delete(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.items == nil {
		return ErrClosed
	}
	delete(s.items, key)
	return nil
}

func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.URL.Path
	switch r.Method {
	case http.MethodGet:
		value, err := s.Get(key)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		fmt.Fprint(w, value)
	case http.MethodDelete:
		if err := s.Delete(key); err != nil {
			http.Error(w, err.Error(), http.StatusGone)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		http.Error(w, "no such method", http.StatusMethodNotAllowed)
	}
}
